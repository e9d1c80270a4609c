import { describe, expect, it } from 'vitest'
import { isExpired } from '../../../src/kube/error.ts'
import { refusalIn } from '../../../src/kube/pod-logs.ts'
import { MisbehavingServer } from '../../kit/misbehaving-server.ts'
import { clientFor } from './support.ts'

const id = '0123456789abcdef'.repeat(4)
const gone = `unable to retrieve container logs for containerd://${id}`
const path = '/var/log/pods/team_triage_uid/agent/0.log'

describe('an answer in place of a log', () => {
  it.each([
    gone,
    `${gone}\n`,
    `unable to retrieve container logs for cri-o://${id}`,
    `failed to try resolving symlinks in path "${path}": lstat ${path}: no such file or directory`,
    `failed to open log file "${path}": open ${path}: no such file or directory`,
  ])('is told from one: %s', (text) => {
    expect(refusalIn(text)).toBe(text.trimEnd())
  })

  it.each([
    '',
    'begun\n',
    `${gone}\nand went on\n`,
    `begun\n${gone}\n`,
    'unable to retrieve container logs for containerd://1\n',
    'unable to retrieve container logs\n',
    'failed to open log file "/tmp/mine"\n',
  ])('is not seen in what a command wrote: %j', (text) => {
    expect(refusalIn(text)).toBeUndefined()
  })

  it('is no log to whoever asks for one', async () => {
    const server = await MisbehavingServer.start((_request, reply) => reply.stream().piece(gone).end())
    const client = clientFor(server.url)
    const error = await client.logs({ name: 'triage', namespace: 'team' }, 'agent').catch((reason: unknown) => reason)
    expect(error).toSatisfy(isExpired)
    expect(error).toMatchObject({ message: gone, ref: { kind: 'Pod', name: 'triage', namespace: 'team' } })
    await client.transport.close()
    await server.stop()
  })
})
