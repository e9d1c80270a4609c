import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { crdOf } from '../../src/api/crd.ts'
import { kinds } from '../../src/api/kinds.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { applyPatch } from '../../src/kube/request.ts'
import { shell } from './docs-commands.ts'
import { eventually } from './eventually.ts'

interface EstablishedCrd {
  status?: { conditions?: { type: string; status: string }[] }
}

const checkedIn = new URL('../../crds/', import.meta.url)

/**
 * Installs CRDs, by default the checked-in ones, and waits until the server serves them. Installing them twice does no
 * harm.
 */
export async function installCrds(client: KubeClient, folder = checkedIn): Promise<void> {
  await Promise.all(
    kinds.map(async (kind) => {
      const name = crdOf(kind).metadata.name
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`
      await client.transport.request({
        method: 'PATCH',
        path,
        query: { fieldManager: 'test', force: true, fieldValidation: 'Strict' },
        body: load(readFileSync(new URL(`${kind.plural}.yaml`, folder), 'utf8')),
        contentType: applyPatch,
      })
      await eventually(async () => {
        const { status } = await client.transport.request<EstablishedCrd>({ path })
        return status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')
      })
      await eventually(() => client.transport.text({ path: `/apis/${kind.apiVersion}/${kind.plural}` }))
    }),
  )
}

/**
 * Deletes every definition. Lists the objects of each first: one that is deleted within moments of its creation, before the
 * API server has ever read its objects ("storage is (re)initializing"), stays for five minutes.
 */
export async function deleteDefinitions(kubeconfig: string): Promise<void> {
  const script = `
    kubectl wait --for=condition=Established crd --all
    kinds=$(kubectl get crd -o name | cut -d/ -f2)
    kubectl get $(echo $kinds | tr ' ' ,) --all-namespaces
    kubectl delete crd $kinds`
  await shell(script, kubeconfig)
}
