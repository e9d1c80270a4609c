import { dump, load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import type { GraphDocument } from '../../../src/api/graph-document.ts'
import { renderContent } from '../../../src/cli/plan-text.ts'
import { digestJson } from '../../../src/lib/digest.ts'
import { aPlan } from '../../kit/builders.ts'
import { type CliAnswer, runCli } from '../../kit/fake-io.ts'
import { changed, nodeOf, now, oneAgent, triageAndEscalate } from '../../kit/graph-documents.ts'

function resource(document: GraphDocument, spec: object = {}, name = 'triage'): string {
  return dump({
    apiVersion: 'graphwright.dev/v1alpha1',
    kind: 'AutomationGraph',
    metadata: { name },
    spec: { ...document, ...spec },
  })
}

function plan(text: string, ...args: string[]): Promise<CliAnswer> {
  return runCli(['plan', '-f', 'graph.yaml', ...args], { files: { 'graph.yaml': text }, now })
}

const broken = changed(triageAndEscalate(), (document) => {
  Object.assign(nodeOf(document, 'weekday').trigger ?? {}, { cron: 'daily' })
  document.edges = document.edges.filter(({ kind }) => kind !== 'otherwise')
})

describe('plan -f', () => {
  it('draws what it planned and says what comes next', async () => {
    const { code, out, err } = await plan(resource(triageAndEscalate(), { layout: { x: 1 }, applyPolicy: 'Automatic' }))
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(`\n${out}`).toMatchInlineSnapshot(`
      "
      triage: planned, 4 steps, 2 triggers, runs escalate, triage

        by-hand  manual ▶ triage
        weekday  0 9 * * 1-5 (Europe/Berlin) ▶ triage

        triage  agent triage
        │
        parse  parses the JSON of triage
        │
        decide  decides: /escalate equals true
        ├─ continue ▶ escalate  agent escalate, reads the output of triage
        └─ otherwise ▶ finish

      Next: kubectl apply --server-side -f graph.yaml; it approves its plans itself. With --live this also says what applying would change.
      "
    `)
  })

  it('knows the limits of what stands beside the document', async () => {
    const sampleEvent = { items: ['x'.repeat(20_000)] }
    const { code, out } = await plan(resource(triageAndEscalate(), { sampleEvent }))
    expect(code).toBe(1)
    expect(out).toContain('sampleEvent has 20014 bytes as JSON, at most 16384')
  })

  it('shows the policies that the graph sets, as text and as data', async () => {
    const policies = { concurrencyPolicy: 'Forbid', history: { ttlSeconds: 86400 } }
    const text = resource(triageAndEscalate(), policies)
    expect((await plan(text)).out).toContain('Policies: concurrencyPolicy Forbid, history.successfulLimit 3, ')
    expect(JSON.parse((await plan(text, '-o', 'json')).out).policies).toMatchObject(policies)
    expect((await plan(resource(triageAndEscalate()))).out).not.toContain('Policies')
  })

  it('draws one agent behind its triggers', async () => {
    expect((await plan(resource(oneAgent()))).out).toContain('by-hand  manual ▶ agent reporter')
  })

  it('[A-113] says everything that is wrong and exits 1', async () => {
    const { code, out } = await plan(resource(broken))
    expect(code).toBe(1)
    expect(`\n${out}`).toMatchInlineSnapshot(`
      "
      triage: rejected, 2 errors

        error trigger_invalid (node weekday)
          cron "daily" has 1 fields; it needs five: minute, hour, day of month, month, day of week

        error decision_arm_missing (node decide)
          decision decide has no arm otherwise: add an edge of that kind, without to where the path finishes
      "
    `)
  })

  it.each([['-o', 'json'], ['--json'], ['-o', 'yaml']])('[A-113] prints data by %s %s', async (...args) => {
    const read = (text: string) => (args.includes('yaml') ? load(text) : JSON.parse(text))
    const planned = await plan(resource(triageAndEscalate()), ...args)
    expect(planned.code).toBe(0)
    expect(read(planned.out)).toMatchObject({
      kind: 'planned',
      graph: 'triage',
      program: { steps: [{ id: 'triage' }, { id: 'parse' }, { id: 'decide' }, { id: 'escalate' }] },
      warnings: [],
    })
    const rejected = await plan(resource(broken), ...args)
    expect(rejected.code).toBe(1)
    expect(read(rejected.out)).toMatchObject({
      kind: 'rejected',
      errors: [
        { code: 'trigger_invalid', node: 'weekday' },
        { code: 'decision_arm_missing', node: 'decide' },
      ],
    })
  })

  it('[A-336] prints one agent as an agent, not as a program', async () => {
    const { out } = await plan(resource(oneAgent()), '--json')
    expect(JSON.parse(out)).toMatchObject({ kind: 'planned', program: null, agent: { name: 'reporter' } })
  })

  it('plans several graphs of a file, leaves other kinds alone, and is rejected as a whole', async () => {
    const other = dump({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { on: 'yes' } })
    const text = [resource(triageAndEscalate()), other, resource(broken, {}, 'second')].join('---\n')
    const { code, out } = await plan(text, '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject([
      { kind: 'planned', graph: 'triage' },
      { kind: 'rejected', graph: 'second' },
    ])
  })

  it('takes a bare document, and standard input', async () => {
    const answer = await runCli(['plan', '-f', '-', '--json'], {
      files: { '-': JSON.stringify(triageAndEscalate()) },
      now,
    })
    expect(answer.code).toBe(0)
    expect(JSON.parse(answer.out)).toMatchObject({ kind: 'planned', graph: 'document 1' })
  })

  it('prints nothing that acts on the terminal, whatever the file says', async () => {
    const evil = '\u001b[2J\u009b31m\u202e\r'
    const named = changed(triageAndEscalate(), (document) => {
      Object.assign(nodeOf(document, 'triage'), { name: `x${evil}`, prompt: `{{event ${evil}` })
    })
    const wrong = changed(named, (document) => {
      Object.assign(nodeOf(document, 'triage'), { agent: evil, [evil]: evil })
      Object.assign(nodeOf(document, 'parse'), { id: evil })
    })
    for (const text of [resource(named), resource(wrong), resource(wrong, {}, evil), `a: ["${evil}`]) {
      const { out, err } = await plan(text)
      expect(out + err).not.toMatch(/[^\P{Cc}\n]|\u202e/u)
    }
  })

  it('a field that every JavaScript object has is as unknown as any other', async () => {
    const { out } = await plan(resource(triageAndEscalate(), { constructor: { a: 1 }, valueOf: null }))
    expect(out).toContain('the document has no field constructor')
  })

  it('asks for quotes where kubectl would read something else', async () => {
    const text = resource(triageAndEscalate()).replace('equals\n', 'equals\n').replace('value: true', 'value: yes')
    const { code, out } = await plan(text, '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out).errors).toMatchObject([
      { code: 'document_invalid', detail: expect.stringContaining('quotes') },
    ])
  })

  it.each([
    ['an unknown field of the spec', { colour: 'red' }, 'colour'],
    ['a policy that is none', { applyPolicy: 'Sometimes' }, 'applyPolicy'],
    ['a limit out of range', { planHistoryLimit: 0 }, 'planHistoryLimit'],
  ])('refuses %s', async (_title, spec, named) => {
    const { code, out } = await plan(resource(triageAndEscalate(), spec), '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out).errors).toMatchObject([{ code: 'document_invalid', detail: expect.stringContaining(named) }])
  })

  it('refuses a name that is none and another version of the API', async () => {
    const text = resource(triageAndEscalate(), {}, 'Not_a_name').replace('v1alpha1', 'v9')
    const { out } = await plan(text, '--json')
    expect(JSON.parse(out).errors).toMatchObject([
      { detail: expect.stringContaining('apiVersion') },
      { detail: expect.stringContaining('metadata.name') },
    ])
  })

  it.each([
    ['a file that is not there', ['plan', '-f', 'none.yaml'], 'unreadable: cannot read none.yaml (ENOENT)'],
    ['a file that is no YAML', ['plan', '-f', 'bad.yaml'], 'unreadable: bad.yaml is no valid YAML or JSON'],
    ['a file without a graph', ['plan', '-f', 'empty.yaml'], 'no_graph: empty.yaml holds no AutomationGraph'],
    ['a folder', ['plan', '-f', 'graphs/'], 'unreadable: graphs/ is a folder'],
    ['no file', ['plan'], "usage: required option '-f, --filename <file>'"],
    ['an unknown command', ['pln'], "usage: unknown command 'pln' (Did you mean plan?)"],
    ['no argument', ['approve'], "usage: missing required argument 'plan'"],
    ['an unknown format', ['plan', '-f', 'empty.yaml', '-o', 'xml'], 'json, yaml'],
    [
      'no kubeconfig',
      ['list', '--kubeconfig', '/nowhere/config'],
      'kubeconfig: the given kubeconfig names /nowhere/config',
    ],
  ])('exits 2 for %s, with one line', async (_title, args, message) => {
    const { code, err, out } = await runCli(args, { files: { 'bad.yaml': 'a: [', 'empty.yaml': 'a: 1' }, now })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(message)
    expect(err.trim().split('\n')).toHaveLength(1)
  })

  it('tells a mistake in the arguments as data too, where data was asked for', async () => {
    const { out } = await runCli(['plan', '--json'])
    expect(JSON.parse(out)).toEqual({ error: { code: 'usage', message: expect.stringContaining('--filename') } })
  })

  it('repeats the options that lead to the cluster in what it advises', async () => {
    const files = { 'graph.yaml': resource(triageAndEscalate(), {}) }
    const { out } = await runCli(['plan', '-f', 'graph.yaml', '-n', 'team-a', '--context', 'prod'], { files, now })
    expect(out).toContain('kubectl -n team-a --context prod apply --server-side -f graph.yaml')
    expect(out).toContain('graphwright -n team-a --context prod approve')
  })

  it('prints its help and its version', async () => {
    expect(await runCli(['--help'])).toMatchObject({ code: 0, out: expect.stringContaining('approve') })
    expect(await runCli(['run', '--help'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('--idempotency-key'),
    })
    const { code, out } = await runCli(['version', '-o', 'json'])
    expect({ code, answer: JSON.parse(out) }).toMatchObject({
      code: 0,
      answer: { version: expect.stringMatching(/^\d+\./) },
    })
  })
})

describe('renderContent', () => {
  it('[A-033] shows dispositions, pins, blockers and what must be provided', () => {
    const { content } = aPlan({
      content: {
        revision: 4,
        dispositions: [
          { kind: 'AutomationProgram', name: 'triage-abc', action: 'Create' },
          {
            kind: 'Automation',
            name: 'triage',
            action: 'Update',
            fields: ['triggers[weekday].cron', 'target.program.name'],
          },
        ],
        pins: [{ agent: 'triager', version: 'triager-v2', digest: digestJson(1), uid: 'u' }],
        blockers: [{ code: 'environment_missing', detail: 'there is no Environment default in team: create it' }],
        requiredInputs: [{ kind: 'Environment', name: 'default', detail: 'where the pods run' }],
        digest: `sha256:${'0'.repeat(64)}`,
      },
    }).spec
    expect(`\n${renderContent(content)}\n`).toMatchInlineSnapshot(`
      "
      Changes: update Automation triage: triggers, target (revision 4, sha256:000000000000)

        ACTION   KIND                NAME         FIELDS
        Create   AutomationProgram   triage-abc   -
        Update   Automation          triage       triggers[weekday].cron, target.program.name

      Pinned: triager-v2

      Blocked until resolved:
        environment_missing: there is no Environment default in team: create it

      To be provided:
        Environment default: where the pods run
      "
    `)
  })
})
