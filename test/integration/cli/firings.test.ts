import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Admission, type AutomationFiring, automationFiring } from '../../../src/api/automation-firing.ts'
import { type AutomationProgram, automationProgram } from '../../../src/api/automation-program.ts'
import { annotations } from '../../../src/api/labels.ts'
import { firingName, manualKey } from '../../../src/lib/names.ts'
import {
  aFiring,
  aGraph,
  anAutomation,
  anEnvironment,
  aProgram,
  aRun,
  aSession,
  inlineContent,
} from '../../kit/builders.ts'
import { freshNamespace } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { eventually } from '../../kit/eventually.ts'
import { adminClient, cliIn, setStatus, store } from './support.ts'

const client = adminClient()

beforeAll(() => installCrds(client))
afterAll(() => client.transport.close())

const settledAt = '2026-11-30T12:00:09Z'

describe('run', () => {
  it('[A-305] [A-199] [A-548] [A-550] fires by hand with an event and prints the receipt', async () => {
    const namespace = await freshNamespace(client)
    const automation = await store(client, namespace, anAutomation())
    const answer = await cliIn(namespace)(['run', 'triage', '--event', '{"items": []}', '--json'])
    expect(answer).toMatchObject({ code: 0, err: '' })
    const receipt = JSON.parse(answer.out)
    expect(receipt).toMatchObject({
      automation: 'triage',
      trigger: 'manual',
      entry: 'by-hand',
      program: { state: 'pending', result: null },
    })
    const firing = await client.get(automationFiring, { name: receipt.firing, namespace })
    expect(firing.spec).toEqual({
      automation: { name: 'triage', uid: automation.metadata.uid },
      trigger: 'manual',
      entry: 'by-hand',
      event: { items: [] },
      requestedBy: 'admin',
    })
    expect(firing.metadata.name).toMatch(/^triage-manual-[a-z0-9]{26}$/)
  })

  it('[A-555] fires anew each time; [A-556] [A-557] the same key rejoins, with another event it is a conflict', async () => {
    const namespace = await freshNamespace(client)
    const { metadata } = await store(client, namespace, anAutomation())
    const cli = cliIn(namespace)
    const run = async (...args: string[]) => JSON.parse((await cli(['run', 'triage', '--json', ...args])).out)
    expect((await run()).firing).not.toBe((await run()).firing)

    const keyed = ['--idempotency-key', 'request-1', '--event', '{"a":1}']
    const first = await run(...keyed)
    const target = { name: 'triage', uid: metadata.uid ?? '' }
    expect(first.firing).toBe(firingName(target, 'manual', manualKey('admin', 'request-1')))
    expect((await run(...keyed)).firing).toBe(first.firing)
    const conflict = await cli(['run', 'triage', '--idempotency-key', 'request-1', '--event', '{"a":2}', '--json'])
    expect(conflict).toMatchObject({ code: 1, err: expect.stringContaining('validation.conflict') })
    expect(JSON.parse(conflict.out)).toMatchObject({ error: { code: 'validation.conflict' } })
    expect((await client.list(automationFiring, { namespace })).items).toHaveLength(3)
  })

  it('[A-174] a paused Automation refuses and makes no firing', async () => {
    const namespace = await freshNamespace(client)
    await store(client, namespace, anAutomation({ spec: { paused: true } }))
    const answer = await cliIn(namespace)(['run', 'triage'])
    expect(answer).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^error: validation\.conflict: .*resume/),
    })
    expect((await client.list(automationFiring, { namespace })).items).toEqual([])
  })

  it.each([
    ['completed', 0, 'Succeeded'],
    ['failed', 1, 'Failed'],
  ] as const)(
    '--follow --exit-status tells the steps and ends a %s firing with exit code %s',
    async (result, code, phase) => {
      const namespace = await freshNamespace(client)
      await store(client, namespace, anAutomation())
      const answer = cliIn(namespace)(['run', 'triage', '--follow', '--exit-status'])
      const firing = await theFiring(namespace)
      await setStatus(client, firing, { phase: 'Running', steps: { triage: { kind: 'running' } } })
      const kind = result === 'completed' ? 'completed' : 'failed'
      const output = inlineContent('All is well.')
      await setStatus(client, firing, { phase, result, output, steps: { triage: { kind, settledAt } } })
      expect(await answer).toMatchObject({
        code,
        out: expect.stringContaining('All is well.'),
        err: expect.stringContaining(`triage  ${kind}`),
      })
    },
  )

  it('[A-542] without --exit-status a failed firing still is an answered request', async () => {
    const namespace = await freshNamespace(client)
    await store(client, namespace, anAutomation())
    const answer = cliIn(namespace)(['run', 'triage', '--follow', '--json'])
    const firing = await theFiring(namespace)
    await setStatus(client, firing, { phase: 'Failed', reason: 'NotReady' })
    const { code, out } = await answer
    expect({ code, receipt: JSON.parse(out) }).toMatchObject({
      code: 0,
      receipt: { program: { state: 'settled', result: 'failed' } },
    })
  })

  it('of a graph that is not applied says what to do, and warns of what is not ready', async () => {
    const namespace = await freshNamespace(client)
    const cli = cliIn(namespace)
    await store(client, namespace, aGraph())
    expect(await cli(['run', 'triage'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(new RegExp(`graphwright -n ${namespace} .*approve triage`)),
    })
    const readiness = [{ check: 'Agent', state: 'Failed' as const, message: 'There is no Agent x.' }]
    await store(client, namespace, anAutomation({ status: { readiness } }))
    expect(await cli(['run', 'triage'])).toMatchObject({ code: 0, err: expect.stringContaining('no Agent x') })
  })

  it('[A-543] steps are told in the order of the program, wherever they are shown', async () => {
    const namespace = await freshNamespace(client)
    await store(client, namespace, anAutomation())
    const program = await store(client, namespace, aProgram({ spec: { program: threeSteps } }))
    const cli = cliIn(namespace)
    const answer = cli(['run', 'triage', '--follow', '--json'])
    const firing = await theFiring(namespace)
    const completed = { kind: 'completed', settledAt } as const
    await setStatus(client, firing, {
      phase: 'Succeeded',
      result: 'completed',
      admission: admissionOf(program),
      steps: { a: completed, b: completed, c: completed },
    })
    const { err, out } = await answer
    expect([...err.matchAll(/ {2}([abc]) {2}completed/g)].map(([, id]) => id)).toEqual(['c', 'a', 'b'])
    const ids = (steps: { id: string }[]) => steps.map(({ id }) => id).join('')
    expect(ids(JSON.parse(out).program.steps)).toBe('cab')
    const read = async (...args: string[]) => JSON.parse((await cli([...args, '--json'])).out)
    expect(ids((await read('runs', 'triage')).items[0].program.steps)).toBe('cab')
    expect(ids((await read('trace', firing.metadata.name)).steps.outcomes)).toBe('cab')

    await client.delete({ ...automationProgram, name: program.metadata.name, namespace })
    expect(ids((await read('runs', 'triage')).items[0].program.steps)).toBe('abc')
  })

  it('interrupting a follow leaves the firing alone', async () => {
    const namespace = await freshNamespace(client)
    await store(client, namespace, anAutomation())
    const user = new AbortController()
    const answer = cliIn(namespace)(['run', 'triage', '--follow'], { signal: user.signal })
    await theFiring(namespace)
    user.abort(new Error('interrupted'))
    expect(await answer).toMatchObject({ code: 130 })
    expect((await client.list(automationFiring, { namespace })).items).toHaveLength(1)
  })
})

describe('cancel', () => {
  const requestOf = async (namespace: string) => {
    const { metadata } = await client.get(automationFiring, { name: 'triage-manual-1', namespace })
    return metadata.annotations?.[annotations.cancelRequested]
  }

  it('[A-290] asks the firing to end, and says who did and why', async () => {
    const namespace = await freshNamespace(client)
    await store(client, namespace, aFiring({ status: { phase: 'Running' } }))
    const cli = cliIn(namespace)
    const answer = await cli(['cancel', 'triage-manual-1', '--reason', 'wrong event', '--json'])
    expect(answer).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(answer.out)).toEqual({
      kind: 'cancelling',
      firing: 'triage-manual-1',
      namespace,
      reason: 'admin: wrong event',
    })
    expect(await requestOf(namespace)).toBe('admin: wrong event')
    // Asking again changes nothing.
    const again = await cli(['cancel', 'triage-manual-1', '--reason', 'another'])
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('already (admin: wrong event)') })
    expect(await requestOf(namespace)).toBe('admin: wrong event')
  })

  it('refuses what has ended, and what it does not know', async () => {
    const namespace = await freshNamespace(client)
    await store(client, namespace, aFiring({ status: { phase: 'Succeeded', result: 'completed' } }))
    const cli = cliIn(namespace)
    expect(await cli(['cancel', 'triage-manual-1'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: validation\.conflict: .*ended already \(Succeeded\)/),
    })
    expect(await requestOf(namespace)).toBeUndefined()
    expect(await cli(['cancel', 'x'])).toMatchObject({ code: 2, err: expect.stringContaining('triage-manual-1') })
  })
})

describe('list, runs and trace', () => {
  it('[A-547] [A-552] [A-537] read what is recorded', async () => {
    const namespace = await freshNamespace(client)
    await store(client, namespace, anAutomation({ status: { state: 'Active' } }))
    const program = await store(client, namespace, aProgram())
    const status = {
      phase: 'Failed',
      result: 'failed',
      steps: { triage: { kind: 'failed', reason: 'exit_code', settledAt } },
    } as const
    const firing = await store(client, namespace, aFiring({ status }))
    const reference = { name: firing.metadata.name, uid: firing.metadata.uid ?? '' }
    await store(client, namespace, aSession({ spec: { firing: reference } }))
    await store(client, namespace, aRun({ spec: { firing: reference }, status: { phase: 'Failed', exitCode: 3 } }))
    await store(client, namespace, aFiring({ name: 'other-manual-1', spec: { automation: { name: 'other' } } }))
    const cli = cliIn(namespace)
    const read = async (...args: string[]) => JSON.parse((await cli([...args, '--json'])).out)

    expect(await read('list')).toMatchObject({
      items: [{ name: 'triage', namespace, state: 'Active', trigger: 'manual' }],
    })
    expect(await read('runs', 'triage')).toMatchObject({
      items: [
        {
          firing: 'triage-manual-1',
          program: { state: 'settled', result: 'failed', steps: [{ id: 'triage', reason: 'exit_code' }] },
        },
      ],
    })
    expect(await read('trace', 'triage-manual-1')).toMatchObject({
      steps: { state: 'settled', result: 'failed', outcomes: [{ id: 'triage', kind: 'failed' }] },
      sessions: [{ name: 'triage-session' }],
      runs: [{ exitCode: 3 }],
    })
    expect((await cli(['list'])).out).toContain('triage')
    expect(program.spec.graph).toBe('triage')
  })

  it('runs keeps to its limit, newest first', async () => {
    const namespace = await freshNamespace(client)
    await store(client, namespace, anAutomation())
    for (const number of [1, 2, 3]) await store(client, namespace, aFiring({ name: `triage-manual-${number}` }))
    const { out } = await cliIn(namespace)(['runs', 'triage', '--limit', '2', '--json'])
    const { items } = JSON.parse(out) as { items: { firing: string }[] }
    expect(items.map(({ firing }) => firing)).toEqual(['triage-manual-3', 'triage-manual-2'])
  })
})

describe('logs', () => {
  it('says so where there is no pod to read', async () => {
    const namespace = await freshNamespace(client)
    const cli = cliIn(namespace)
    const firing = await store(client, namespace, aFiring())
    expect(await cli(['logs', 'triage-manual-1'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('has not started a pod'),
    })

    const reference = { name: firing.metadata.name, uid: firing.metadata.uid ?? '' }
    const run = await store(client, namespace, aRun({ spec: { firing: reference } }))
    expect(await cli(['logs', 'triage-manual-1'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('has no pod yet'),
    })

    await setStatus(client, run, {
      incarnation: { number: 0, job: 'job', pod: 'gone' },
      logs: { ...inlineContent('x'), size: 7 },
    })
    const gone = await cli(['logs', 'triage-run', '--step', 'triage'])
    expect(gone).toMatchObject({
      code: 2,
      err: expect.stringMatching(/the pod gone is gone; the last 7 bytes .* sha256:/),
    })
    const settled = await store(client, namespace, aRun({ name: 'refused', spec: { firing: reference } }))
    await setStatus(client, settled, { settledAt: '2026-11-30T12:00:00Z', message: 'there is no image to run' })
    expect(await cli(['logs', 'refused'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('refused ended without a pod: there is no image to run'),
    })
    expect(await cli(['logs', 'triage-run', '--step', 'x'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('pods worked for: triage'),
    })
  })
})

describe('what cannot be asked', () => {
  it('an unknown name is told with those that there are', async () => {
    const namespace = await freshNamespace(client)
    await store(client, namespace, anAutomation())
    for (const args of [
      ['run', 'x'],
      ['runs', 'x'],
    ]) {
      expect(await cliIn(namespace)(args)).toMatchObject({
        code: 2,
        err: `error: not_found: there is no Automation x in the namespace ${namespace}; there is: triage\n`,
      })
    }
    expect(await cliIn(namespace)(['trace', 'x'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('choose the namespace by -n'),
    })
  })

  it.skipIf(process.env.GRAPHWRIGHT_TEST_KUBECONFIG)(
    'a user without rights is told which and whom to ask',
    async () => {
      const namespace = await freshNamespace(client)
      const plain = ['run', 'approve', 'trace', 'logs', 'cancel', 'pause', 'resume', 'next', 'explain'].map((name) => [
        name,
        'x',
      ])
      const window = ['--from', 'now', '--to', 'now']
      for (const args of [['list'], ...plain, ['backfill', 'x', ...window], ['undo', 'x', '--to-revision', '1']]) {
        const { code, out, err } = await cliIn(namespace, 'mallory')(args)
        expect({ code, out }).toEqual({ code: 2, out: '' })
        expect(err).toMatch(/^error: forbidden: .*User "mallory" cannot .*graphwright-edit.*\n$/)
      }
    },
  )

  it('a cluster that does not answer is named', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'graphwright-cli-'))
    const path = join(folder, 'config')
    const text = await readFile(inject('kubeconfig'), 'utf8')
    await writeFile(path, text.replace(/server: .*/, `server: https://127.0.0.1:${await freePort()}`))
    const { runCli } = await import('../../kit/fake-io.ts')
    const answer = await runCli(['list', '--kubeconfig', path])
    await rm(folder, { recursive: true })
    expect(answer).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^error: unreachable: .*127\.0\.0\.1.*--context\n$/),
    })
  })
})

const threeSteps: AutomationProgram['spec']['program'] = {
  entries: [{ id: 'by-hand', kind: 'manual' }],
  steps: [
    { id: 'c', kind: 'agent', after: [{ id: 'by-hand' }], agent: 'triager' },
    { id: 'a', kind: 'parse_json', after: [{ id: 'c' }], output: 'c' },
    { id: 'b', kind: 'decision', after: [{ id: 'a' }], output: 'a' },
  ],
}

function admissionOf({ metadata, spec }: AutomationProgram): Admission {
  return {
    automationUID: 'u',
    automationGeneration: 1,
    entry: 'by-hand',
    program: { name: metadata.name, digest: spec.digest },
    pins: [],
    environment: { name: 'default', uid: 'u', generation: 1, spec: anEnvironment().spec },
    principal: { serviceAccountName: 'triage', uid: 'u' },
    admittedAt: settledAt,
  }
}

/** The one firing of a namespace, once it is there. */
function theFiring(namespace: string): Promise<AutomationFiring> {
  return eventually(async () => (await client.list(automationFiring, { namespace })).items[0] ?? false)
}

/** A port on which nobody listens. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
