import { describe, expect, it } from 'vitest'
import type { AgentVersion } from '../../../src/api/agent.ts'
import { digestJson } from '../../../src/lib/digest.ts'
import { deepFreeze } from '../../../src/lib/readonly.ts'
import { decideAgent } from '../../../src/reconcilers/agent.ts'
import { anAgent, anAgentVersion, createdAt } from '../../kit/builders.ts'

const now = new Date(createdAt)
const configuration = (image: string) => ({ runtime: { container: { image } }, repeatSafe: false })

/** A published version of the agent `triager`, or of an earlier agent with that name. */
function published(version: number, image: string, ownerUid = 'uid-of-triager'): AgentVersion {
  const owner = {
    apiVersion: 'graphwright.dev/v1alpha1',
    kind: 'Agent',
    name: 'triager',
    uid: ownerUid,
    controller: true,
  }
  const spec = configuration(image)
  return anAgentVersion({
    name: `triager-v${version}`,
    metadata: { ownerReferences: [owner] },
    spec: { ...spec, version, digest: digestJson(spec) },
  })
}

function plan(image: string, versions: readonly AgentVersion[], rest: Parameters<typeof anAgent>[0] = {}) {
  return decideAgent(deepFreeze(anAgent({ ...rest, spec: configuration(image) })), deepFreeze([...versions]), now)
}

describe('an Agent', () => {
  it('publishes its first version, and says nothing before it is there', () => {
    const { create, status } = plan('a', [])
    expect(create).toMatchObject([
      {
        metadata: { name: 'triager-v1' },
        spec: { agent: 'triager', version: 1, digest: digestJson(configuration('a')) },
      },
    ])
    expect(status).toBeUndefined()
  })

  it('is ready once the newest version is what its spec says', () => {
    const { create, status } = plan('a', [published(1, 'a')])
    expect(create).toBeUndefined()
    expect(status).toMatchObject({
      latestVersion: {
        name: 'triager-v1',
        number: 1,
        digest: digestJson(configuration('a')),
        uid: 'uid-of-triager-v1',
      },
      conditions: [{ type: 'Ready', status: 'True', reason: 'Published' }],
    })
  })

  it('publishes the next version when what it runs changed, and keeps the old one', () => {
    const planned = plan('b', [published(1, 'a')])
    expect(planned.create).toMatchObject([{ metadata: { name: 'triager-v2' } }])
    expect(planned.delete).toBeUndefined()
  })

  it('publishes anew what it ran before', () => {
    expect(plan('a', [published(1, 'a'), published(2, 'b')]).create).toMatchObject([
      { metadata: { name: 'triager-v3' } },
    ])
  })

  it('publishes nothing when only its description changed', () => {
    const described = anAgent({ spec: { ...configuration('a'), description: 'new words' } })
    expect(decideAgent(described, [published(1, 'a')], now).create).toBeUndefined()
  })

  it('does not take over versions of an earlier Agent of its name, nor their numbers', () => {
    expect(plan('a', [published(4, 'a', 'uid-of-earlier')]).create).toMatchObject([
      { metadata: { name: 'triager-v5' } },
    ])
  })

  it('does not use a number again whose version is gone', () => {
    const latestVersion = { name: 'triager-v7', number: 7, digest: digestJson('x'), uid: 'gone' }
    expect(plan('a', [], { status: { latestVersion } }).create).toMatchObject([{ metadata: { name: 'triager-v8' } }])
  })

  it('says so where its name leaves no room for a number', () => {
    const name = 'a'.repeat(61)
    expect(() => decideAgent(anAgent({ name }), [], now)).toThrow(/shorter|at most 57/)
  })
})
