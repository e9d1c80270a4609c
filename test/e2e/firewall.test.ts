import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { haveClusterAlone } from '../kit/cluster-turn.ts'
import { clusterCommand, requireNode } from '../kit/node-cluster.ts'
import { agentStep, graph, shellAgent, surroundings } from './manifests.ts'
import { Workspace } from './workspace.ts'

haveClusterAlone()
beforeEach(requireNode)

describe('a cluster that stops enforcing NetworkPolicies', () => {
  afterEach(async () => {
    await clusterCommand('firewall', 'start')
  })

  test('ends runs NetworkNotIsolated before the command starts, and runs them again when it is repaired', async () => {
    const workspace = await Workspace.create('firewall')
    await workspace.apply(...surroundings(), shellAgent('work', 'echo ran'), graph('flow', [agentStep('work')]))
    await workspace.applied('flow')
    await clusterCommand('firewall', 'stop')
    const refused = await workspace.settled(await workspace.fire('flow'))
    expect(refused.status).toMatchObject({ phase: 'Failed', step: 'work', reason: 'NetworkNotIsolated' })
    expect(refused.status?.message).toMatch(/network plugin.*network: open/)
    const run = await workspace.run('work')
    expect(run.status).toMatchObject({ phase: 'Failed', cause: 'Refused', reason: 'NetworkNotIsolated' })
    expect(run.status?.startedAt).toBeUndefined()

    await clusterCommand('firewall', 'start')
    expect((await workspace.settled(await workspace.fire('flow'))).status?.phase).toBe('Succeeded')
    expect(await workspace.lint()).toEqual([])
  })
})
