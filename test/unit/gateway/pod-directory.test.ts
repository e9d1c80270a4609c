import { describe, expect, it } from 'vitest'
import type { Run } from '../../../src/api/run.ts'
import { PodDirectory, runIndexes } from '../../../src/gateway/pod-directory.ts'
import { type Change, Store } from '../../../src/kube/store.ts'
import { FakeClock } from '../../kit/fake-clock.ts'

/** The store of an informer, fed by hand. */
class Feed {
  readonly store = new Store<Run>({ indexes: runIndexes })
  readonly #handlers: ((change: Change<Run>) => void)[] = []
  #version = 0

  onChange(handler: (change: Change<Run>) => void): void {
    this.#handlers.push(handler)
  }

  put(name: string, number: number, podUID?: string): void {
    this.#tell(this.store.put(this.#run(name, number, podUID)))
  }

  remove(name: string, podUID: string): void {
    this.#tell(this.store.remove(this.#run(name, 0, podUID)))
  }

  #tell(changes: readonly Change<Run>[]): void {
    for (const change of changes) for (const handler of this.#handlers) handler(change)
  }

  #run(name: string, number: number, podUID: string | undefined): Run {
    const incarnation = { number, job: `${name}-${number}`, ...(podUID !== undefined && { podUID }) }
    const metadata = { name, namespace: 'team-a', uid: `uid-${name}`, resourceVersion: String(++this.#version) }
    return { apiVersion: 'graphwright.dev/v1alpha1', kind: 'Run', metadata, spec: {}, status: { incarnation } } as Run
  }
}

function directory() {
  const clock = new FakeClock()
  const feed = new Feed()
  return { clock, feed, pods: new PodDirectory([feed], clock) }
}

describe('pod directory', () => {
  it('knows a pod by the UID that its Run records, in its own namespace only', () => {
    const { feed, pods } = directory()
    feed.put('triage', 0, 'pod-1')
    expect(pods.find('team-a', 'pod-1')).toEqual({ run: 'team-a/triage' })
    expect(pods.find('team-b', 'pod-1')).toBeUndefined()
    expect(pods.find('team-a', 'pod-2')).toBeUndefined()
  })

  it('fences a pod when a newer incarnation begins, before that has a pod', () => {
    const { feed, pods } = directory()
    feed.put('triage', 0, 'pod-1')
    feed.put('triage', 1)
    expect(pods.find('team-a', 'pod-1')).toBe('replaced')
    feed.put('triage', 1, 'pod-2')
    expect(pods.find('team-a', 'pod-1')).toBe('replaced')
    expect(pods.find('team-a', 'pod-2')).toEqual({ run: 'team-a/triage' })
  })

  it('remembers that a run was deleted', () => {
    const { feed, pods } = directory()
    feed.put('triage', 0, 'pod-1')
    feed.remove('triage', 'pod-1')
    expect(pods.find('team-a', 'pod-1')).toBe('gone')
  })

  it('keeps a pod waiting until it is recorded, and no longer', async () => {
    const { clock, feed, pods } = directory()
    const found = pods.findSoon('team-a', 'pod-1', 1000)
    clock.tick(400)
    feed.put('triage', 0, 'pod-1')
    expect(await found).toEqual({ run: 'team-a/triage' })
    expect(clock.pending).toBe(0)
  })

  it('gives up waiting when the time is over', async () => {
    const { clock, pods } = directory()
    const found = pods.findSoon('team-a', 'pod-1', 1000)
    clock.tick(1000)
    expect(await found).toBeUndefined()
  })

  it('gives up waiting when the pod has hung up', async () => {
    const { clock, pods } = directory()
    const hungUp = new AbortController()
    const found = pods.findSoon('team-a', 'pod-1', 1000, hungUp.signal)
    hungUp.abort()
    expect(await found).toBeUndefined()
    expect(clock.pending).toBe(0)
  })
})
