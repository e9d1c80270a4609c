import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runApiPaths } from '../../../src/api/run-api.ts'
import type { Pod } from '../../../src/kube/core-types.ts'
import { digestBytes } from '../../../src/lib/digest.ts'
import { inlineContent } from '../../kit/builders.ts'
import { eventually } from '../../kit/eventually.ts'
import { errorOf, GatewayUnderTest, Workspace } from './support.ts'

let api: GatewayUnderTest
let team: Workspace
const folder = mkdtempSync(join(tmpdir(), 'graphwright-gateway-'))

beforeAll(async () => {
  api = await GatewayUnderTest.start(folder)
  team = await Workspace.create(api.client)
})

afterAll(async () => {
  await api?.gateway.stop(0)
  rmSync(folder, { recursive: true, force: true })
})

describe('input', () => {
  it('is composed of the Run, its Session and its firing', async () => {
    const input = { prompt: inlineContent('Look at it.'), bindings: { severity: inlineContent('"high"') } }
    const { run, token } = await team.recordedRun({ event: { items: [{ id: 'a' }] }, input })
    const answer = await api.self(token)
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.text)).toEqual({
      run: { name: run.metadata.name, namespace: team.namespace },
      session: run.spec.session.name,
      step: 'triage',
      attempt: 0,
      prompt: 'Look at it.',
      event: { items: [{ id: 'a' }] },
      bindings: { severity: '"high"' },
    })
  })

  it('has null for an event where there is none', async () => {
    const { token } = await team.recordedRun()
    expect(JSON.parse((await api.self(token)).text)).toMatchObject({ event: null, bindings: {} })
  })

  it('takes what is too large for the Session from the content store', async () => {
    const prompt = 'long '.repeat(4000)
    const content = { digest: digestBytes(prompt), size: prompt.length }
    await api.contents.put(content.digest, Buffer.from(prompt))
    const { token } = await team.recordedRun({ input: { prompt: content } })
    expect(JSON.parse((await api.self(token)).text)).toMatchObject({ prompt })
    const blob = await api.call(`${runApiPaths.blobs}/${content.digest}`, { token })
    expect(blob.text).toBe(prompt)
  })

  it('that is lost is said to be lost, not waited for', async () => {
    const prompt = { digest: digestBytes('never stored'), size: 12 }
    const { token } = await team.recordedRun({ input: { prompt } })
    expect(errorOf(await api.self(token))).toEqual({ status: 409, type: 'run.input_lost', code: 'content_missing' })
    const other = await team.recordedRun()
    await team.deleteInput(other.run)
    expect(errorOf(await api.self(other.token))).toMatchObject({ status: 409, code: 'input_lost' })
  })

  it("does not give a run another run's contents", async () => {
    const digest = digestBytes('of somebody else')
    await api.contents.put(digest, Buffer.from('of somebody else'))
    const { token } = await team.recordedRun()
    const answer = await api.call(`${runApiPaths.blobs}/${digest}`, { token })
    expect(errorOf(answer)).toMatchObject({ status: 404, type: 'content.missing' })
  })
})

describe('identity', () => {
  it('is told to come again until the manager has recorded the pod', async () => {
    const [run, pod] = await Promise.all([team.run(), team.pod()])
    const token = await team.token(pod)
    const early = await api.self(token)
    expect(errorOf(early)).toEqual({ status: 425, type: 'run.not_recorded', code: 'pod_not_recorded' })
    expect(early.headers['retry-after']).toBe('1')
    const waiting = api.self(token)
    await team.record(run, pod)
    expect((await waiting).status).toBe(200)
  })

  it('needs a token for this audience', async () => {
    const { pod } = await team.recordedRun()
    const foreign = await team.token(pod, { audience: 'vault' })
    expect(errorOf(await api.self(foreign))).toMatchObject({ status: 401, type: 'auth.invalid_token' })
    const ofApiServer = await team.token(pod, { audience: 'https://kubernetes.default.svc' })
    expect(errorOf(await api.self(ofApiServer))).toMatchObject({ status: 401 })
    expect(errorOf(await api.self('not.a.token'))).toMatchObject({ status: 401, code: 'token_rejected' })
  })

  it('needs a token that is bound to a pod', async () => {
    const answer = await api.self(await team.token(undefined))
    expect(errorOf(answer)).toMatchObject({ status: 401, code: 'pod_required' })
  })

  it('is not lent by owner references and labels, which whoever makes pods can write', async () => {
    const { run, pod } = await team.recordedRun()
    const borrowed: Pod['metadata']['ownerReferences'] = [
      { apiVersion: 'batch/v1', kind: 'Job', name: 'job-0', uid: pod.metadata.uid ?? '', controller: true },
      { apiVersion: run.apiVersion, kind: run.kind, name: run.metadata.name, uid: run.metadata.uid ?? '' },
    ]
    const labels = { 'graphwright.dev/run': run.metadata.name, 'batch.kubernetes.io/job-name': 'job-0' }
    const attacker = await team.pod({ metadata: { ownerReferences: borrowed, labels } })
    const token = await team.token(attacker)
    expect(errorOf(await api.self(token))).toMatchObject({ status: 425 })
    expect(errorOf(await api.report(token, { output: 'forged' }))).toMatchObject({ status: 425 })
    expect((await team.live(run)).status?.result).toBeUndefined()
  })

  it('ends at the namespace: a Run that records the pod of another one gives it nothing', async () => {
    const other = await Workspace.create(api.client)
    const [run, pod] = await Promise.all([team.run(), other.pod()])
    await team.record(run, pod)
    expect(errorOf(await api.self(await other.token(pod)))).toMatchObject({ status: 425 })
  })

  it('is that of the ServiceAccount of runs, and of no other', async () => {
    await team.serviceAccount('builder')
    const [run, pod] = await Promise.all([team.run(), team.pod({ serviceAccount: 'builder' })])
    await team.record(run, pod)
    const answer = await api.self(await team.token(pod))
    expect(errorOf(answer)).toMatchObject({ status: 403, type: 'auth.forbidden', code: 'not_a_runner' })
  })

  it('passes to the newer incarnation, and the older one is fenced', async () => {
    const { run, token: old } = await team.recordedRun()
    expect((await api.self(old)).status).toBe(200)
    const successor = await team.pod()
    await team.record(run, successor, 1)
    expect(errorOf(await api.report(old, { output: 'late' }))).toMatchObject({ status: 403, type: 'run.fenced' })
    expect(errorOf(await api.self(old))).toMatchObject({ status: 403, type: 'run.fenced' })
    expect((await api.report(await team.token(successor), { output: 'new' })).status).toBe(200)
    expect((await team.live(run)).status?.result).toMatchObject({ incarnation: 1, output: { inline: 'new' } })
  })

  it('ends with the Run', async () => {
    const { run, token } = await team.recordedRun()
    await api.client.delete({ apiVersion: run.apiVersion, kind: run.kind, ...placeOf(run) })
    await eventually(async () => {
      expect(errorOf(await api.self(token))).toMatchObject({ status: 403, type: 'run.gone' })
    })
  })
})

describe('result', () => {
  it('is recorded once; the same report again gets the same answer, another one is a conflict', async () => {
    const { run, token } = await team.recordedRun()
    const first = await api.report(token, { output: 'done' })
    expect(first.status).toBe(200)
    const recorded = (await team.live(run)).status?.result
    expect(recorded).toMatchObject({ output: inlineContent('done'), incarnation: 0 })
    const again = await api.report(token, { output: 'done' })
    expect(again).toMatchObject({ status: 200, text: first.text })
    const other = await api.report(token, { output: 'changed my mind' })
    expect(errorOf(other)).toMatchObject({ status: 409, type: 'validation.conflict', code: 'result_recorded' })
    expect((await team.live(run)).status?.result).toEqual(recorded)
  })

  it('keeps the code of an output that could not be taken', async () => {
    const { run, token } = await team.recordedRun()
    await api.report(token, { error: 'output_too_large' })
    expect((await team.live(run)).status?.result).toMatchObject({ error: 'output_too_large', output: { size: 0 } })
  })

  it('goes into the content store when it is large, before the Run names it', async () => {
    const { run, token } = await team.recordedRun()
    const output = `${'ä'.repeat(300_000)}\u0000"\\`
    const answer = await api.report(token, { output })
    expect(answer.status).toBe(200)
    const content = (await team.live(run)).status?.result?.output
    expect(content).toEqual({ digest: digestBytes(output), size: Buffer.byteLength(output) })
    expect(Buffer.from(await api.contents.get(digestBytes(output))).toString()).toBe(output)
    const blob = await api.call(`${runApiPaths.blobs}/${digestBytes(output)}`, { token })
    expect(blob.text).toBe(output)
  })

  it('and what the manager writes leave each other alone, whoever writes when', async () => {
    const { run, pod, token } = await team.recordedRun()
    let writing = true
    const manager = (async () => {
      for (let i = 0; writing; i++) await team.record(run, pod, 0, { phase: 'Running', message: `pass ${i}` })
    })()
    // Nobody writes as often as this; where the gateway gives way at last, the pod asks again.
    await eventually(async () => (await api.report(token, { output: 'in between' })).status === 200)
    writing = false
    await manager
    await team.record(run, pod, 0, { phase: 'Running', message: 'last pass' })
    const status = (await team.live(run)).status
    expect(status).toMatchObject({
      phase: 'Running',
      message: 'last pass',
      result: { output: { inline: 'in between' } },
    })
    expect(status?.incarnation?.podUID).toBe(pod.metadata.uid)
  })

  it('of a pod that was lost afterwards makes room for that of its successor', async () => {
    const { run, token } = await team.recordedRun()
    await api.report(token, { output: 'half' })
    const successor = await team.pod()
    await team.record(run, successor, 1)
    expect((await api.report(await team.token(successor), { output: 'whole' })).status).toBe(200)
    expect((await team.live(run)).status?.result).toMatchObject({ incarnation: 1, output: { inline: 'whole' } })
    expect(errorOf(await api.report(token, { output: 'half' }))).toMatchObject({ status: 403, type: 'run.fenced' })
  })

  it('of two at the same time is one', async () => {
    const { run, token } = await team.recordedRun()
    const answers = await Promise.all(['a', 'b', 'a', 'b'].map((output) => api.report(token, { output })))
    const winner = (await team.live(run)).status?.result?.output.inline
    expect(answers.map(({ status }) => status)).toEqual(['a', 'b', 'a', 'b'].map((o) => (o === winner ? 200 : 409)))
  })

  it('is not taken from a run that has settled, and its record is still confirmed', async () => {
    const settledAt = '2026-11-30T12:00:00Z'
    const { run, pod, token } = await team.recordedRun()
    await team.record(run, pod, 0, { phase: 'Failed', settledAt })
    const late = await api.report(token, { output: 'late' })
    expect(errorOf(late)).toMatchObject({ status: 409, type: 'run.settled' })
    expect(errorOf(await api.self(token))).toMatchObject({ status: 409, type: 'run.settled' })

    const good = await team.recordedRun()
    await api.report(good.token, { output: 'done' })
    await team.record(good.run, good.pod, 0, { phase: 'Succeeded', settledAt })
    expect((await api.report(good.token, { output: 'done' })).status).toBe(200)
  })
})

describe('contents', () => {
  it('are kept for the manager of this installation alone', async () => {
    const own = new Workspace(api.client, api.namespace)
    await own.serviceAccount('graphwright-manager')
    const pod = await own.pod({ serviceAccount: 'graphwright-manager' })
    const token = await own.token(pod)
    const bytes = Buffer.from('the last lines of a log')
    const path = `/internal/v1/blobs/${digestBytes(bytes)}`
    expect((await api.call(path, { method: 'PUT', token, bytes })).status).toBe(204)
    expect((await api.call(path, { token })).text).toBe(bytes.toString())

    const unbound = await own.token(undefined, { serviceAccount: 'graphwright-manager' })
    expect(errorOf(await api.call(path, { token: unbound }))).toMatchObject({ status: 401, code: 'pod_required' })
    const runner = await team.recordedRun()
    expect(errorOf(await api.call(path, { token: runner.token }))).toMatchObject({ status: 403, code: 'manager_only' })
    await team.serviceAccount('graphwright-manager')
    const namesake = await team.token(await team.pod({ serviceAccount: 'graphwright-manager' }))
    expect(errorOf(await api.call(path, { token: namesake }))).toMatchObject({ status: 403, code: 'manager_only' })
  })

  it('are taken from a run under way, under their digest', async () => {
    const { token } = await team.recordedRun()
    const bytes = Buffer.from('a large thing')
    const put = (digest: string) => api.call(`${runApiPaths.blobs}/${digest}`, { method: 'PUT', token, bytes })
    expect((await put(digestBytes(bytes))).status).toBe(204)
    expect(errorOf(await put(digestBytes('other')))).toMatchObject({ status: 409, code: 'digest_mismatch' })
    expect(Buffer.from(await api.contents.get(digestBytes(bytes)))).toEqual(bytes)
  })
})

function placeOf(run: { metadata: { name: string; namespace?: string } }) {
  return { name: run.metadata.name, namespace: run.metadata.namespace ?? '' }
}
