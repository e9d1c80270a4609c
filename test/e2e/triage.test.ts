import { beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import type { AutomationFiring } from '../../src/api/automation-firing.ts'
import { labels } from '../../src/api/labels.ts'
import { containerNames } from '../../src/api/run-api.ts'
import { version } from '../../src/lib/version.ts'
import { shareCluster } from '../kit/cluster-turn.ts'
import { eventually } from '../kit/eventually.ts'
import { removeLog, requireNode, runTool } from '../kit/node-cluster.ts'
import { parseTables } from './tables.ts'
import { Workspace } from './workspace.ts'

const sample = new URL('../../manifests/samples/triage-and-escalate/', import.meta.url).pathname
const graph = `${sample}graph.yaml`
const name = 'triage-and-escalate'

/** What `run` and `runs` print of a firing, in the part that is read here. */
interface Receipt {
  readonly firing: string
  readonly program: { readonly state: string; readonly result: string | null; readonly steps: { id: string }[] }
  readonly output: { readonly inline: string }
}

shareCluster()
beforeEach(requireNode)

/** One story: each test goes on where the one before ended. */
describe('triage and escalate, from a file to two answers', () => {
  let workspace: Workspace
  let incident: AutomationFiring
  let quiet: AutomationFiring

  beforeAll(async () => {
    if ('unavailable' in inject('nodeCluster')) return
    workspace = await Workspace.create('triage')
  })

  test('a plan is drawn without a cluster, and says what applying would change with one', async () => {
    await workspace.kubectl('apply', '--server-side', ...['service-account', 'environment', 'agents'].flatMap(fileFlag))
    await workspace.kubectl('wait', 'agents', '--all', '--for=condition=Ready', '--timeout=30s')
    const offline = await workspace.graphwright(['plan', '-f', graph])
    expect(offline.code).toBe(0)
    expect(offline.stdout).toContain('triage-json')

    const live = await workspace.ask<{
      kind: string
      program: object
      plan: { blockers: []; dispositions: { action: string; kind: string; name: string }[] }
    }>('plan', '-f', graph, '--live')
    expect(live).toMatchObject({ kind: 'planned', warnings: [] })
    expect(live.plan.blockers).toEqual([])
    expect(live.plan.dispositions).toContainEqual(
      expect.objectContaining({ action: 'Create', kind: 'Automation', name }),
    )
  })

  test('nothing is applied before exactly this plan is approved', async () => {
    await workspace.kubectl('apply', '--server-side', ...fileFlag('graph'))
    await workspace.kubectl('wait', `agraph/${name}`, '--for=condition=Planned', '--timeout=30s')
    await workspace.kubectl('wait', `agraph/${name}`, '--for=condition=Ready', '--timeout=30s')
    const waiting = parseTables(await workspace.kubectl('get', 'agraph,agplan')).get('automationgraphplan')
    expect(waiting).toEqual([expect.objectContaining({ PHASE: 'Pending', BLOCKERS: '0', APPROVEDBY: '' })])
    expect((await workspace.tryKubectl(['get', 'auto', name])).code).toBe(1)

    const approved = await workspace.graphwright(['approve', name])
    expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining('approved by admin') })
    await workspace.kubectl('wait', `agraph/${name}`, '--for=condition=Applied', '--timeout=30s')
    await workspace.kubectl('wait', 'agplan', '--all', '--for=condition=Succeeded', '--timeout=30s')
    await workspace.kubectl('wait', `auto/${name}`, '--for=condition=Ready', '--timeout=30s')
    const list = await workspace.graphwright(['list'])
    expect(list.stdout).toMatch(new RegExp(`${name} +Active +manual, 0 9 \\* \\* MON-FRI \\(Europe/Berlin\\)`))
  })

  test('[A-199] an incident takes the arm of escalation', async () => {
    const event = `@${sample}events/incident.json`
    const { code, stdout } = await workspace.graphwright([
      ...['run', name, '--event', event, '--follow', '--exit-status', '-o', 'json'],
    ])
    expect(code).toBe(0)
    const receipt = JSON.parse(stdout) as Receipt
    expect(receipt.program).toMatchObject({ state: 'settled', result: 'completed' })
    expect(receipt.output.inline).toBe(
      'Please look now: 1 of 3 items are critical.\n- INC-1041: Checkout answers 500 to every third customer\n',
    )
    incident = await workspace.firing(receipt.firing)
    expect(incident.status).toMatchObject({ phase: 'Succeeded', result: 'completed' })
    expect(outcomes(incident)).toEqual({
      triage: 'completed',
      'triage-json': 'completed',
      critical: 'completed continue',
      escalate: 'completed',
    })
    expect((await workspace.sessions()).map(({ spec }) => spec.step).sort()).toEqual(['escalate', 'triage'])
    await workspace.kubectl('wait', 'firing,session,run', '--all', '--for=condition=Succeeded', '--timeout=30s')
  })

  test('a quiet morning takes the other arm, and starts no second pod', async () => {
    const before = (await workspace.pods()).length
    quiet = await workspace.settled(await workspace.fire(name, '--event', `@${sample}events/quiet.json`))
    expect(quiet.status).toMatchObject({ phase: 'Succeeded', result: 'completed' })
    expect(outcomes(quiet)).toEqual({
      triage: 'completed',
      'triage-json': 'completed',
      critical: 'completed otherwise',
      escalate: 'skipped',
    })
    const output = JSON.parse(quiet.status?.output?.inline ?? '')
    expect(output).toEqual({ escalate: false, summary: '0 of 2 items are critical', ids: [] })
    expect((await workspace.pods()).length).toBe(before + 1)
  })

  test('Pod Security restricted is enforced where all this ran', async () => {
    const image = 'localhost/graphwright-samples:dev'
    const refused = await workspace.tryKubectl(['run', 'intruder', `--image=${image}`])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('violates PodSecurity "restricted')
    await workspace.kubectl('wait', 'pods', '--all', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=30s')
    expect(await workspace.pods()).toHaveLength(3)
  })

  test('the columns of kubectl get tell the story', async () => {
    const tables = parseTables(await workspace.kubectl('get', 'agraph,agplan,auto,firing,session,run'))
    expect(tables.get('automationgraph')).toEqual([
      expect.objectContaining({ REVISION: '1', PLAN: `${name}-1`, APPLIED: 'Applied', DRIFT: 'none', READY: 'True' }),
    ])
    expect(tables.get('automationgraphplan')).toEqual([
      expect.objectContaining({
        ...{ GRAPH: name, REVISION: '1', PHASE: 'Applied', BLOCKERS: '0', APPROVEDBY: 'admin' },
        CHANGES: `create Automation ${name}`,
      }),
    ])
    const [auto] = tables.get('automation') ?? []
    expect(auto).toMatchObject({
      ...{ STATE: 'Active', READY: 'True', RESULT: 'Succeeded', LAST: expect.stringMatching(/\d/) },
      ...{ TRIGGER: 'manual, 0 9 * * MON-FRI (Europe/Berlin)', NEXT: expect.stringMatching(/^20\d\d-\d\d-\d\dT/) },
    })
    const told = { AUTOMATION: name, TRIGGER: 'manual', PHASE: 'Succeeded', STEP: '', REASON: '' }
    const times = { STARTED: expect.stringMatching(/^\d/), DURATION: expect.stringMatching(/^\d/) }
    expect(tables.get('automationfiring')).toEqual(Array(2).fill(expect.objectContaining({ ...told, ...times })))
    const session = { PHASE: 'Succeeded', REASON: 'Completed', RUNS: '1' }
    expect(tables.get('session')).toEqual(Array(3).fill(expect.objectContaining(session)))
    expect(
      tables
        .get('session')
        ?.map(({ AGENT }) => AGENT)
        .sort(),
    ).toEqual(['escalate-v1', 'triage-v1', 'triage-v1'])
    const run = {
      PHASE: 'Succeeded',
      REASON: 'Completed',
      SESSION: expect.stringMatching(/./),
      JOB: expect.stringMatching(/./),
    }
    expect(tables.get('run')).toEqual(Array(3).fill(expect.objectContaining({ ...run, ...times })))
  })

  test('kubectl describe shows the events', async () => {
    await eventually(async () => {
      const described = await workspace.kubectl('describe', 'firing', incident.metadata.name)
      const events = described.slice(described.indexOf('\nEvents:'))
      for (const reason of ['Admitted', 'StepStarted', 'Succeeded']) expect(events).toContain(reason)
    })
    expect(await workspace.kubectl('describe', 'agraph', name)).toMatch(/\nEvents:\n(.*\n)*.*graphwright/)
  })

  test('[A-526] trace joins the records of a firing, runs lists them', async () => {
    const trace = await workspace.ask<{ steps: { outcomes: { id: string }[] }; evidence: object }>(
      ...['trace', incident.metadata.name],
    )
    expect(trace.steps).toMatchObject({ state: 'settled', result: 'completed' })
    expect(trace.steps.outcomes.map(({ id }) => id)).toEqual(['triage', 'triage-json', 'critical', 'escalate'])
    expect(trace.evidence).toEqual({ complete: true, missing: [] })
    const { items } = await workspace.ask<{ items: Receipt[] }>('runs', name)
    const newest = [quiet, incident].map(({ metadata }) => metadata.name)
    expect(items.map(({ firing }) => firing)).toEqual(newest)
    for (const { program } of items) expect(program).toMatchObject({ state: 'settled', result: 'completed' })
    const text = await workspace.graphwright(['trace', incident.metadata.name])
    expect(text.stdout).toContain('Please look now')
  })

  test('logs reads the pod while its node has them, and then says where they are', async () => {
    const { name: firing } = incident.metadata
    const read = () => workspace.graphwright(['logs', firing, '--step', 'triage'])
    expect(await read()).toMatchObject({ code: 0, stdout: expect.stringContaining('INC-1042: low: Nightly report') })

    const kept = await eventually(async () => {
      const runs = (await workspace.runs()).filter(({ spec }) => spec.firing.name === firing)
      return runs.every(({ status }) => status?.logs !== undefined) && runs
    })
    const { status } = kept.find(({ spec }) => spec.step === 'triage') ?? {}
    const pod = (await workspace.pods()).find(({ metadata }) => metadata.name === status?.incarnation?.pod)
    if (pod !== undefined) removeLog(pod.metadata, containerNames.agent)
    const removed = await read()
    expect(removed).toMatchObject({ code: 2, stdout: '' })
    expect(removed.stderr).toMatch(/the node of the pod \S+ no longer has its log; the last \d+ bytes/)
    expect(removed.stderr).toContain(status?.logs?.digest)

    await workspace.kubectl('delete', 'job', '-l', `${labels.firing}=${firing}`)
    await workspace.kubectl('wait', 'pod', '-l', `${labels.firing}=${firing}`, '--for=delete', '--timeout=60s')
    const after = await read()
    expect(after.code).not.toBe(0)
    expect(after.stderr).toMatch(/the pod \S+ is gone/)
    expect(after.stderr).toContain(status?.logs?.digest)
    expect((await workspace.firing(firing)).status).toEqual(incident.status)
  })

  test('the tool is a plugin of kubectl', async () => {
    const plugin = await runTool('kubectl', ['graphwright', 'list', '-n', workspace.namespace])
    expect(plugin).toMatchObject({ code: 0, stdout: expect.stringContaining(name) })
    const told = await runTool('graphwright', ['version'])
    expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining(version) })
    expect(await runTool('kubectl', ['graphwright', 'version'])).toEqual(told)
  })

  test('every status is as the conventions want it', async () => {
    expect(await workspace.lint()).toEqual([])
  })
})

function fileFlag(file: string): string[] {
  return ['-f', `${sample}${file}.yaml`]
}

/** Kind and arm of each step's outcome. */
function outcomes({ status }: AutomationFiring): Record<string, string> {
  const entries = Object.entries(status?.steps ?? {})
  return Object.fromEntries(entries.map(([id, { kind, arm }]) => [id, arm === undefined ? kind : `${kind} ${arm}`]))
}
