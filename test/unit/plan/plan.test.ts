import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AutomationSpec } from '../../../src/api/automation.ts'
import { automationSpec } from '../../../src/api/automation.ts'
import { automationGraphPlanSpec } from '../../../src/api/automation-graph-plan.ts'
import { automationProgramSpec } from '../../../src/api/automation-program.ts'
import type { GraphDocument } from '../../../src/api/graph-document.ts'
import { digestJson } from '../../../src/lib/digest.ts'
import { describeChanges } from '../../../src/plan/describe.ts'
import { drift } from '../../../src/plan/drift.ts'
import { type ManagedSpec, programFor } from '../../../src/plan/managed-spec.ts'
import { planGraph } from '../../../src/plan/plan.ts'
import type { PlannedAutomation, PlanWorld } from '../../../src/plan/world.ts'
import {
  agentStep,
  changed,
  compiled,
  documentOf,
  edge,
  manual,
  nodeOf,
  oneAgent,
  triageAndEscalate,
} from '../../kit/graph-documents.ts'

const graph = { name: 'triage', uid: 'graph-uid', namespace: 'team' }

function version(name: string, number = 1) {
  return { name: `${name}-v${number}`, number, digest: digestJson([name, number]), uid: `${name}-v${number}-uid` }
}

/** A world in which everything the samples name exists. */
function world(change: Partial<PlanWorld> = {}): PlanWorld {
  return {
    graph,
    revision: 3,
    environment: { uid: 'env-uid' },
    serviceAccount: { uid: 'sa-uid' },
    agents: Object.fromEntries(
      ['triage', 'escalate', 'reporter'].map((name) => [name, { uid: `${name}-uid`, latestVersion: version(name) }]),
    ),
    ...change,
  }
}

/** The Automation as applying the plan leaves it. */
function applied(spec: Record<string, unknown>, change: Partial<AutomationSpec> = {}): PlannedAutomation {
  return { uid: 'auto-uid', controllerUid: graph.uid, spec: automationSpec.parse({ ...spec, ...change }) }
}

function actionsOf(document: GraphDocument, at: PlanWorld): string[] {
  return planGraph(compiled(document), at).dispositions.map(({ kind, action }) => `${action} ${kind}`)
}

const samples: [string, GraphDocument][] = [
  ['steps', triageAndEscalate()],
  ['one agent', oneAgent()],
]

describe('planGraph', () => {
  it('[A-032] [A-033] [A-038] [A-162] plans the creation of an Automation and its program', () => {
    const content = planGraph(compiled(triageAndEscalate()), world())
    expect(content).toMatchObject({
      graph: 'triage',
      graphUID: 'graph-uid',
      revision: 3,
      blockers: [],
      requiredInputs: [],
      pins: [
        { agent: 'escalate', version: 'escalate-v1', uid: 'escalate-v1-uid' },
        { agent: 'triage', version: 'triage-v1', uid: 'triage-v1-uid' },
      ],
      automation: { environment: 'default', serviceAccountName: 'triage', target: { program: content.program } },
    })
    expect(content.dispositions.map(({ action, kind, name }) => [action, kind, name])).toEqual([
      ['Create', 'AutomationProgram', content.program?.name],
      ['Create', 'Automation', 'triage'],
    ])
    expect(describeChanges(content)).toBe('create Automation triage')
    expect(automationGraphPlanSpec.parse({ content })).toEqual({ content })
  })

  it('[A-336] pins the version of one agent and needs no program', () => {
    const content = planGraph(compiled(oneAgent()), world())
    expect(content.program).toBeUndefined()
    expect(content.automation).toMatchObject({ target: { agent: { name: 'reporter', version: 'reporter-v1' } } })
    expect(actionsOf(oneAgent(), world())).toEqual(['Create Automation'])
  })

  it.each(samples)('[A-034] planning on the world that the plan produced changes nothing: %s', (_title, document) => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.constantFrom(
          {},
          { concurrencyPolicy: 'Forbid' as const },
          { jitterSeconds: 5, history: { ttlSeconds: 86400 } },
        ),
        fc.nat(),
        (paused, policies, n) => {
          const before = world({ revision: n + 1, agents: { ...world().agents, other: { uid: 'x' } } })
          const said = { ...document, ...policies } as GraphDocument
          const plan = planGraph(compiled(said), before)
          const live = applied(plan.automation, { paused })
          live.spec.triggers.toReversed()
          const after = planGraph(compiled(said), { ...before, appliedPlanDigest: plan.digest, automation: live })
          expect(new Set(after.dispositions.map(({ action }) => action))).toEqual(new Set(['Unchanged']))
          expect(describeChanges(after)).toBe('no changes')
          expect(after.automation).toEqual(plan.automation)
          expect(after.blockers).toEqual([])
        },
      ),
    )
  })

  it('the digest knows neither paused nor a default that somebody wrote down', () => {
    const plan = planGraph(compiled(triageAndEscalate()), world())
    const digestWith = (change: Partial<AutomationSpec>, revision = 3) =>
      planGraph(compiled(triageAndEscalate()), world({ revision, automation: applied(plan.automation, change) })).digest
    expect(digestWith({ paused: true })).toBe(digestWith({}))
    expect(digestWith({ concurrencyPolicy: 'Allow', missedOccurrences: { policy: 'Latest' } })).toBe(digestWith({}))
    expect(digestWith({ concurrencyPolicy: 'Forbid' })).not.toBe(digestWith({}))
    expect(digestWith({ triggers: (plan.automation as ManagedSpec).triggers.toReversed() })).toBe(digestWith({}))
    expect(digestWith({}, 4)).toBe(digestWith({}))
  })

  it('[A-033] policies of the graph are planned: another digest, an Update of these fields, the same program', () => {
    const before = planGraph(compiled(triageAndEscalate()), world())
    const said = changed(triageAndEscalate(), (document) => {
      Object.assign(document, { concurrencyPolicy: 'Forbid', history: { ttlSeconds: 86400 } })
    })
    const at = world({ automation: applied(before.automation), appliedPlanDigest: before.digest })
    const after = planGraph(compiled(said), at)
    expect(after.digest).not.toBe(planGraph(compiled(triageAndEscalate()), at).digest)
    expect(after.program).toEqual(before.program)
    expect(after.dispositions.at(-1)).toMatchObject({
      action: 'Update',
      fields: ['concurrencyPolicy', 'history.ttlSeconds'],
    })
    const dropped = planGraph(compiled(triageAndEscalate()), world({ automation: applied(after.automation) }))
    expect(dropped.dispositions.at(-1)?.fields).toEqual(['concurrencyPolicy', 'history.ttlSeconds'])
  })

  it('everything the plan depends on moves the digest, each thing differently', () => {
    const document = triageAndEscalate()
    const base = planGraph(compiled(document), world())
    const live = applied(base.automation)
    const worlds: PlanWorld[] = [
      world(),
      world({ appliedPlanDigest: base.digest }),
      world({ environment: undefined }),
      world({ environment: { uid: 'other' } }),
      world({ serviceAccount: { uid: 'other' } }),
      world({ serviceAccount: undefined }),
      world({ agents: {} }),
      world({ agents: { ...world().agents, triage: { uid: 'triage-uid' } } }),
      world({ agents: { ...world().agents, triage: { uid: 'again', latestVersion: version('triage') } } }),
      world({ agents: { ...world().agents, triage: { uid: 'triage-uid', latestVersion: version('triage', 2) } } }),
      world({ automation: live }),
      world({ automation: { ...live, uid: 'other' } }),
      world({ automation: { ...live, controllerUid: undefined } }),
      world({ automation: { ...live, controllerUid: 'other' } }),
      world({ automation: applied(base.automation, { environment: 'other' }) }),
    ]
    const digests = worlds.map((at) => planGraph(compiled(document), at).digest)
    const renamed = changed(document, (copy) => {
      nodeOf(copy, 'triage').name = 'Triage'
    })
    digests.push(planGraph(compiled(renamed), world()).digest)
    expect(new Set(digests).size).toBe(digests.length)
  })

  it('[A-038] a newer version of an agent is an update of the target', () => {
    const plan = planGraph(compiled(triageAndEscalate()), world())
    const newer = { ...world().agents, triage: { uid: 'triage-uid', latestVersion: version('triage', 2) } }
    const next = planGraph(
      compiled(triageAndEscalate()),
      world({ agents: newer, automation: applied(plan.automation) }),
    )
    expect(next.dispositions).toMatchObject([
      { action: 'Create', kind: 'AutomationProgram' },
      { action: 'Update', kind: 'Automation', fields: ['target.program.digest', 'target.program.name'] },
    ])
    expect(describeChanges(next)).toBe('update Automation triage: target')
  })

  it('names the fields that an update changes', () => {
    const plan = planGraph(compiled(triageAndEscalate()), world())
    const document = changed(triageAndEscalate(), (copy) => {
      Object.assign(nodeOf(copy, 'weekday').trigger ?? {}, { cron: '0 8 * * *' })
      copy.environment = 'large'
    })
    const next = planGraph(compiled(document), world({ automation: applied(plan.automation) }))
    expect(next.dispositions.at(-1)?.fields).toEqual(['triggers[weekday].cron', 'environment'])
    expect(describeChanges(next)).toBe('update Automation triage: triggers, environment')
  })

  it('going from steps to one agent leaves no program behind in the target', () => {
    const plan = planGraph(compiled(triageAndEscalate()), world())
    const next = planGraph(compiled(oneAgent()), world({ automation: applied(plan.automation) }))
    expect(next.dispositions).toMatchObject([
      { action: 'Update', fields: expect.arrayContaining(['target.agent', 'target.program']) },
    ])
  })
})

describe('blockers', () => {
  it('are a plan that the API takes, also where everything is missing that a graph can name', () => {
    const ids = Array.from({ length: 99 }, (_, number) => `step-${number}`)
    const edges = ids.map((id, number) => edge(number === 0 ? 'starts' : 'then', ids[number - 1] ?? 'by-hand', id))
    const document = documentOf([manual(), ...ids.map((id) => agentStep(id))], edges)
    const spec = planGraph(compiled(triageAndEscalate()), world()).automation
    const automation = { ...applied(spec), controllerUid: 'another' }
    const nothing = { graph, revision: 1, environment: undefined, serviceAccount: undefined, agents: {}, automation }
    const content = planGraph(compiled(document), nothing)
    expect(automationGraphPlanSpec.safeParse({ content }).error?.issues).toBeUndefined()
    expect(content.blockers.map(({ code }) => code).slice(0, 4)).toEqual([
      'environment_missing',
      'service_account_missing',
      'automation_conflict',
      'agent_missing',
    ])
  })

  it('[A-144] names everything that is missing, with what to do', () => {
    const content = planGraph(
      compiled(triageAndEscalate()),
      world({ environment: undefined, serviceAccount: undefined, agents: { triage: { uid: 'triage-uid' } } }),
    )
    expect(content.blockers).toEqual([
      { code: 'environment_missing', detail: expect.stringContaining('Environment default') },
      { code: 'service_account_missing', detail: expect.stringContaining('ServiceAccount triage') },
      { code: 'agent_missing', detail: expect.stringContaining('Agent escalate') },
      { code: 'agent_unpublished', detail: expect.stringContaining('Agent triage') },
    ])
    expect(content.requiredInputs.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'Environment default',
      'ServiceAccount triage',
      'Agent escalate',
    ])
    expect(automationGraphPlanSpec.parse({ content })).toEqual({ content })
  })

  it.each([
    ['managed directly', undefined],
    ["another graph's", 'other-uid'],
  ])('[A-042] [A-043] never adopts an Automation that is %s', (_title, controllerUid) => {
    const plan = planGraph(compiled(triageAndEscalate()), world())
    const at = world({ automation: { ...applied(plan.automation), controllerUid } })
    const content = planGraph(compiled(triageAndEscalate()), at)
    expect(content.blockers).toMatchObject([{ code: 'automation_conflict', detail: expect.stringContaining('delete') }])
    expect(actionsOf(triageAndEscalate(), at)).toEqual(['Create AutomationProgram', 'Conflict Automation'])
    expect(describeChanges(content)).toBe('conflict with Automation triage')
  })

  it('an Agent named like a member of every object is missing all the same', () => {
    const document = changed(oneAgent(), (copy) => {
      nodeOf(copy, 'report').agent = 'constructor'
    })
    expect(planGraph(compiled(document), world()).blockers).toMatchObject([{ code: 'agent_missing' }])
  })
})

describe('programFor', () => {
  it('names a program by what it is: the same steps and versions are the same program', () => {
    const pins = planGraph(compiled(triageAndEscalate()), world()).pins
    const one = programFor('triage', compiled(triageAndEscalate()), pins)
    const other = programFor('triage', compiled(triageAndEscalate()), pins.toReversed().toReversed())
    expect(one).toEqual(other)
    expect(automationProgramSpec.parse(one?.spec)).toEqual(one?.spec)
    expect(one?.name).toMatch(/^triage-[a-z2-7]{26}$/)
    expect(programFor('triage', compiled(triageAndEscalate()), [])?.name).not.toBe(one?.name)
    const more = changed(triageAndEscalate(), (document) => {
      document.nodes.push(agentStep('notify'))
      document.edges.push(edge('then', 'triage', 'notify'))
    })
    expect(programFor('triage', compiled(more), pins)?.name).not.toBe(one?.name)
  })
})

describe('[A-036] drift', () => {
  const managed = planGraph(compiled(oneAgent()), world()).automation as ManagedSpec

  it('is none where only what people own differs', () => {
    expect(drift(managed, { ...applied({ ...managed }).spec, paused: true })).toEqual([])
  })

  it('names each managed field that differs', () => {
    const live = applied(
      { ...managed },
      {
        triggers: [{ id: 'extra', kind: 'manual' }],
        target: { agent: { name: 'reporter', version: 'reporter-v1', prompt: 'Hello' } },
        serviceAccountName: 'other',
      },
    ).spec
    expect(drift(managed, live)).toEqual([
      'triggers[by-hand]',
      'triggers[extra]',
      'target.agent.prompt',
      'serviceAccountName',
    ])
  })
})
