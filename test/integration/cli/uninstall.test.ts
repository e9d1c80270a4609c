import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { automation } from '../../../src/api/automation.ts'
import { automationFiring } from '../../../src/api/automation-firing.ts'
import { kinds } from '../../../src/api/kinds.ts'
import type { UninstallReport } from '../../../src/cli/uninstall.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { loadKubeConfig } from '../../../src/kube/config.ts'
import { jobType } from '../../../src/kube/core-types.ts'
import { aFiring, anAgent, anAutomation, anEnvironment, unsaved } from '../../kit/builders.ts'
import { type ControlPlane, startControlPlane } from '../../kit/cluster-tool.ts'
import { clientOf } from '../../kit/control-plane.ts'
import { deleteDefinitions } from '../../kit/crds.ts'
import { blocksUnder, shell } from '../../kit/docs-commands.ts'
import { eventually } from '../../kit/eventually.ts'
import { runCli } from '../../kit/fake-io.ts'
import { Kubelet } from '../../kit/kubelet.ts'
import { gatewayRunner } from '../../kit/pod-runner.ts'
import { makeManagersReady, RunningRelease } from '../namespaces/release.ts'

/** Installed with Helm, with a firing whose pod runs, and then uninstalled: by the commands that the tool prints. */

const home = 'graphwright-system'
const patience = { timeout: 60_000, interval: 100 }
let plane: ControlPlane
let admin: KubeClient
let person: KubeClient

beforeAll(async () => {
  plane = await startControlPlane({ users: { jane: ['developers'], mallory: [] } })
  admin = clientOf(loadKubeConfig({ kubeconfig: plane.kubeconfig }), { types: kinds })
  person = clientOf(loadKubeConfig({ kubeconfig: plane.users.jane ?? '' }), { types: kinds })
  await shell('kubectl create namespace team-a', plane.kubeconfig)
  await shell('kubectl -n team-a create rolebinding jane --clusterrole=admin --user=jane', plane.kubeconfig)
})

afterAll(async () => {
  await Promise.all([admin, person].map((client) => client?.transport.close()))
  await plane?.stop()
})

interface Checked {
  readonly code: number
  readonly report: UninstallReport
}

async function check(kubeconfig: string, ...args: string[]): Promise<Checked> {
  const { code, out } = await runCli(['uninstall', '--check', '-o', 'json', '--kubeconfig', kubeconfig, ...args])
  return { code, report: JSON.parse(out) as UninstallReport }
}

/** How many objects of each finding there are. */
function found({ report }: Checked): Record<string, number> {
  return Object.fromEntries(report.findings.map(({ code, objects }) => [code, objects.length]))
}

/** Installs as the page says. */
async function install(): Promise<void> {
  const [script = ''] = blocksUnder('docs/install.md', 'With Helm', 'sh')
  const withoutNodes = script.split('\n').filter((line) => !line.includes('rollout status'))
  await shell(withoutNodes.join('\n'), plane.kubeconfig)
}

/** A firing whose pod runs until it is told to end. Returns what ends with it. */
async function fire(release: RunningRelease): Promise<Kubelet> {
  const namespace = 'team-a'
  const runner = gatewayRunner(admin, release.api)
  const play = () => ({ command: () => new Promise<never>(() => {}) })
  const kubelet = await new Kubelet({ client: admin, namespace, runner, play }).start()
  for (const object of [anEnvironment(), anAgent()]) await admin.create(unsaved(object as never, namespace))
  await shell('kubectl -n team-a create serviceaccount triage || true', plane.kubeconfig)
  // The standard roles take those of the chart in a moment after they are installed.
  await eventually(() => person.create(unsaved(anAutomation(), namespace)), patience)
  await eventually(async () => {
    const { status } = await admin.get(automation, { namespace, name: 'triage' })
    return status?.state === 'Active'
  }, patience)
  const { metadata } = await person.create(unsaved(aFiring(), namespace))
  await eventually(async () => {
    const { status } = await admin.get(automationFiring, { namespace, name: metadata.name })
    const { items } = await admin.list(jobType, { namespace })
    return status?.phase === 'Running' && items.some((job) => job.status?.active === 1)
  }, patience)
  return kubelet
}

/** Runs what the tool says, in its order. */
async function follow({ report }: Checked, afterFirst: () => Promise<void> = async () => {}): Promise<void> {
  for (const [index, { command }] of report.steps.entries()) {
    await shell(command, plane.kubeconfig)
    if (index === 0) await afterFirst()
  }
}

describe('graphwright uninstall --check', { timeout: 180_000 }, () => {
  it('is clean, and exits 0, where nothing was ever installed', async () => {
    const { code, report } = await check(plane.kubeconfig)
    expect([code, report]).toEqual([0, { ...report, clean: true, findings: [], unread: [], steps: [] }])
  })

  it('says what may not be read, and exits 2: not known is not clean', async () => {
    const { code, report } = await check(plane.users.mallory ?? '')
    expect([code, report.clean, report.findings]).toEqual([2, false, []])
    const unread = report.unread.map(({ resource }) => resource)
    expect(unread).toEqual(
      expect.arrayContaining(['deployments.apps', 'jobs.batch', 'secrets', 'leases.coordination.k8s.io']),
    )
    const { out } = await runCli(['uninstall', '--check', '--kubeconfig', plane.users.mallory ?? ''])
    expect(out).toContain('User "mallory" cannot list resource "jobs"')
  })

  it('needs --check', async () => {
    const { code, err } = await runCli(['uninstall', '--kubeconfig', plane.kubeconfig])
    expect([code, err]).toEqual([2, expect.stringContaining('uninstall --check says what to do')])
  })

  it('leads to a cluster with nothing left, while the manager runs', async () => {
    await install()
    await makeManagersReady(admin, home)
    const release = await RunningRelease.start(plane, admin, home)
    const kubelet = await fire(release)
    const before = await check(plane.kubeconfig)
    expect([before.code, found(before)]).toEqual([
      1,
      {
        firings_under_way: 1,
        jobs_running: 1,
        finalizers: 1,
        objects: 7,
        workspaces: 2,
        definitions: 10,
        remains: 3,
      },
    ])
    await follow(before, () => release.stop())
    await kubelet.stop()
    const after = await check(plane.kubeconfig)
    expect([after.code, after.report.clean, after.report.findings]).toEqual([0, true, []])
    expect(await leftovers()).toEqual([])
  })

  it('leads there too when the operator was uninstalled first, and firings hold on', async () => {
    await install()
    const release = await RunningRelease.start(plane, admin, home)
    const kubelet = await fire(release)
    await shell(`helm uninstall graphwright --namespace ${home} --wait`, plane.kubeconfig)
    await release.stop()
    const before = await check(plane.kubeconfig)
    expect(before.code).toBe(1)
    expect(before.report.managers).toEqual([])
    expect(found(before)).toMatchObject({ firings_under_way: 1, jobs_running: 1, finalizers: 1, definitions: 10 })
    await follow(before)
    await kubelet.stop()
    const after = await check(plane.kubeconfig)
    expect([after.code, after.report.clean, after.report.findings]).toEqual([0, true, []])
    expect(await leftovers()).toEqual([])
  })

  it('works when the definitions are gone and the rest is not', async () => {
    await install()
    await deleteDefinitions(plane.kubeconfig)
    const checked = await check(plane.kubeconfig)
    expect([checked.code, found(checked)]).toEqual([1, { remains: 1 }])
    expect(checked.report.unread).toEqual([])
    await follow(checked)
    expect((await check(plane.kubeconfig)).code).toBe(0)
    expect(await leftovers()).toEqual([])
  })
})

/** Everything of any kind with our name, as kubectl sees it, but for the namespace. */
async function leftovers(): Promise<string[]> {
  const script = `
    kinds=$(kubectl api-resources --verbs=list -o name | grep -v '^events' | paste -sd,)
    kubectl get $kinds --all-namespaces -o name --ignore-not-found | grep -i graphwright || true`
  const listed = await shell(script, plane.kubeconfig)
  return listed.split('\n').filter((line) => line !== '' && line !== `namespace/${home}`)
}
