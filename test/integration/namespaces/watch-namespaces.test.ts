import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { environment } from '../../../src/api/environment.ts'
import { kinds } from '../../../src/api/kinds.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { loadKubeConfig } from '../../../src/kube/config.ts'
import type { KubeObject } from '../../../src/lib/object.ts'
import { conditionOf } from '../../../src/runtime/conditions.ts'
import { AuditLog } from '../../kit/audit-log.ts'
import { aFiring, aGraph, anAgent, anAutomation, anEnvironment, unsaved } from '../../kit/builders.ts'
import { type ControlPlane, startControlPlane } from '../../kit/cluster-tool.ts'
import { clientOf } from '../../kit/control-plane.ts'
import { blocksUnder, shell } from '../../kit/docs-commands.ts'
import { eventually } from '../../kit/eventually.ts'
import { theEnd } from '../crash/stage.ts'
import { Story } from '../crash/story.ts'
import { grantsOf, rightsOf, unusedGrants } from './grants.ts'
import { RunningRelease } from './release.ts'

/** Two operators of two teams on one cluster, installed as docs/install.md says, held to their Roles by the API server. */

const operators = ['team-a-operator', 'team-b-operator'] as const
const accounts = operators.flatMap((namespace) =>
  ['manager', 'gateway'].map((part) => `system:serviceaccount:${namespace}:graphwright-${part}`),
)
const heading = 'Without rights in the whole cluster'

const audit = new AuditLog(accounts)
let plane: ControlPlane
let admin: KubeClient
let person: KubeClient
const running: RunningRelease[] = []

/** The commands of the page, for the first team or the second. */
function commands(team: 'a' | 'b'): string[] {
  const blocks = blocksUnder('docs/install.md', heading, 'console')
  return team === 'a'
    ? blocks
    : blocks.map((script) => script.replaceAll('team-a', 'team-b').replace(/^kubectl create clusterrole .*$/m, ''))
}

beforeAll(async () => {
  const apiServerFlags = audit.apiServerFlags
  plane = await startControlPlane({ users: { ivy: ['installers'], jane: ['developers'] }, apiServerFlags })
  admin = clientOf(loadKubeConfig({ kubeconfig: plane.kubeconfig }), { types: kinds })
  person = clientOf(loadKubeConfig({ kubeconfig: plane.users.jane ?? '' }), { types: kinds })
  const [cluster = '', ...forTeamA] = commands('a')
  await shell(cluster, plane.kubeconfig)
  for (const [rights = '', install = ''] of [forTeamA, commands('b').slice(1)]) {
    await shell(rights, plane.kubeconfig)
    await shell(install, plane.users.ivy ?? '')
  }
  await shell('kubectl create namespace outside', plane.kubeconfig)
  for (const namespace of ['team-a', 'team-b', 'outside']) {
    await shell(`kubectl -n ${namespace} create rolebinding jane --clusterrole=admin --user=jane`, plane.kubeconfig)
  }
  for (const namespace of operators) running.push(await RunningRelease.start(plane, admin, namespace))
}, 180_000)

afterAll(async () => {
  await Promise.all(running.map((release) => release.stop()))
  await Promise.all([admin, person].map((client) => client?.transport.close()))
  await plane?.stop()
  audit.remove()
})

async function tell(release: RunningRelease, namespace: string): Promise<unknown> {
  const story = await Story.prepare(admin, release.api, { namespace, person })
  try {
    await Promise.race([story.play(), release.manager.failed])
    return await story.outcome()
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${release.complaints}`, { cause: error })
  } finally {
    await story.stop()
  }
}

describe('operators with watchNamespaces', { timeout: 180_000 }, () => {
  it('are installed without a ClusterRole or ClusterRoleBinding that names them', async () => {
    const bindings = await shell('kubectl get clusterrolebindings -o json', plane.kubeconfig)
    expect(bindings).not.toContain('team-a-operator')
    expect(bindings).not.toContain('team-b-operator')
    const roles = await shell('kubectl get clusterroles -o name', plane.kubeconfig)
    expect(roles).not.toMatch(/graphwright-(manager|gateway)/)
  })

  it('have the rights of any ServiceAccount outside of their namespaces, and no more', async () => {
    const nobody = await rightsOf(plane.kubeconfig, 'system:serviceaccount:outside:default', 'outside')
    for (const account of accounts) {
      for (const namespace of ['outside', 'default', 'kube-system']) {
        expect(await rightsOf(plane.kubeconfig, account, namespace), `${account} in ${namespace}`).toEqual(nobody)
      }
    }
  })

  it('carry a firing from its graph to its result, each in its own namespace, both at once', async () => {
    const [a, b] = running
    if (a === undefined || b === undefined) throw new Error('they do not run')
    for (const object of [anEnvironment(), anAgent(), anAutomation(), aGraph({ name: 'other' })]) {
      await admin.create(unsaved(object as KubeObject, 'outside'))
    }
    await person.create(unsaved(aFiring(), 'outside'))
    const before = await versionsIn('outside')
    expect(await Promise.all([tell(a, 'team-a'), tell(b, 'team-b')])).toEqual([theEnd, theEnd])
    expect(await versionsIn('outside')).toEqual(before)
  })

  it('ask for nothing that they may not, in no namespace but their own', () => {
    const requests = audit.requests()
    expect(requests.filter(({ code }) => code === 403)).toEqual([])
    const teams: Record<string, unknown> = { 'team-a-operator': 'team-a', 'team-b-operator': 'team-b' }
    const strange = requests.filter(({ user, namespace }) => {
      const own = user.split(':')[2] ?? ''
      return namespace !== undefined && namespace !== own && namespace !== teams[own]
    })
    expect(strange).toEqual([])
    const unplaced = new Set(requests.filter(({ namespace }) => namespace === undefined).map(({ target }) => target))
    expect([...unplaced].sort()).toEqual([
      '/.well-known/openid-configuration',
      '/openid/v1/jwks',
      'selfsubjectreviews.authentication.k8s.io',
    ])
  })

  it('are granted what they use and, but for what this story has no need of, nothing else', async () => {
    const used = audit.requests()
    for (const part of ['manager', 'gateway'] as const) {
      const grants = await grantsOf(admin, `graphwright-${part}-workspace`, 'team-a')
      const user = `system:serviceaccount:team-a-operator:graphwright-${part}`
      expect(
        unusedGrants(
          grants,
          used.filter((request) => request.user === user),
        ),
        part,
      ).toEqual([...notInTheStory[part]].sort())
    }
  })

  it('go on when a namespace is missing, say so, and serve it once it is there, and there again', async () => {
    const [release] = running
    if (release === undefined) throw new Error('it does not run')
    await release.restartManager('--namespaces=team-a,team-c')
    await saysWhatIsMissing(release)
    expect(await isServed('team-a', 'first')).toBe(true)

    await install('team-c')
    expect(await isServed('team-c', 'first')).toBe(true)
    expect(await release.readiness()).toEqual({ status: 200, text: 'ok\n' })
    expect(release.manager.lives).toHaveLength(1)

    await shell('kubectl delete namespace team-c', plane.kubeconfig)
    // A watch that was allowed is not cut; the next one is asked for in a few minutes, or by the next manager.
    release.manager.kill()
    await saysWhatIsMissing(release)
    expect(await isServed('team-a', 'second')).toBe(true)
    await install('team-c')
    expect(await isServed('team-c', 'again')).toBe(true)
    expect(release.manager.lives).toHaveLength(2)
  })
})

/** Ready, because the other namespace is served. */
function saysWhatIsMissing(release: RunningRelease): Promise<unknown> {
  return eventually(
    async () => {
      const { status, text } = await release.readiness()
      expect(status).toBe(200)
      expect(text).toMatch(/^ok\nnamespace team-c is not served: list and watch are forbidden there for .*jobs\.batch/)
      expect(release.manager.lives.at(-1)?.output).toContain('namespace team-c is not served')
    },
    { timeout: 60_000, interval: 100 },
  )
}

/** Makes a namespace that the operator of the first team serves as well, as the page says. */
async function install(namespace: string): Promise<void> {
  const [, rights = '', release = ''] = commands('a')
  const inNamespace = /for namespace in .*; do/
  await shell(
    rights.replace(/^kubectl create clusterrole .*$/m, '').replace(inNamespace, `for namespace in ${namespace}; do`),
    plane.kubeconfig,
  )
  await shell(release.replace('{team-a}', `{team-a,${namespace}}`), plane.users.ivy ?? '')
}

/** Whether an Environment there is looked at within the time that a forbidden watch rests. */
async function isServed(namespace: string, name: string): Promise<boolean> {
  await admin.create(unsaved(anEnvironment({ name }), namespace))
  return eventually(
    async () => {
      const { status } = await admin.get(environment, { name, namespace })
      return conditionOf(status?.conditions, 'Ready')?.status === 'True'
    },
    { timeout: 60_000, interval: 100 },
  )
}

const g = 'graphwright.dev'

/** Rights that one story without trouble has no need of, by what needs them. */
const notInTheStory: Readonly<Record<'manager' | 'gateway', readonly string[]>> = {
  manager: [
    // A name that is taken is read back, and a cache that shows nothing is not believed.
    ...['automationgraphplans', 'automationprograms', 'automationfirings', 'agentversions', 'sessions', 'runs'].map(
      (kind) => `get ${kind}.${g}`,
    ),
    'get jobs.batch',
    // Schedules; approval by the graph itself; drift that is corrected.
    `create automationfirings.${g}`,
    `patch automationgraphplans.${g}`,
    `patch automations.${g}`,
    // Cancelling, and history.
    `patch sessions.${g}`,
    `patch runs.${g}`,
    ...['automationgraphplans', 'automationprograms', 'automationfirings', 'sessions', 'runs'].map(
      (kind) => `delete ${kind}.${g}`,
    ),
    'delete jobs.batch',
    // The API server asks for these where an apply, which is a patch, makes an object.
    'create serviceaccounts',
    'create networkpolicies.networking.k8s.io',
    // And for these where it guards owner references that block a deletion.
    ...[
      'automationgraphs',
      'automationgraphplans',
      'automations',
      'automationfirings',
      'agents',
      'sessions',
      'runs',
    ].map((kind) => `update ${kind}.${g}/finalizers`),
    // A Job whose pod is refused by a quota; an event that repeats.
    'list events.events.k8s.io',
    'patch events.events.k8s.io',
  ],
  gateway: [],
}

/** The versions of everything of ours in a namespace. */
async function versionsIn(namespace: string): Promise<Record<string, string | undefined>> {
  const lists = await Promise.all(kinds.map((kind) => admin.list<KubeObject>(kind, { namespace })))
  const objects = lists.flatMap(({ items }) => items)
  return Object.fromEntries(objects.map(({ kind, metadata }) => [`${kind} ${metadata.name}`, metadata.resourceVersion]))
}
