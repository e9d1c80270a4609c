import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Agent } from '../../../src/api/agent.ts'
import { sampleObjects } from '../../kit/samples.ts'

/** Runs the sample's agents as the kubelet would, with /graphwright in a folder of the test's own. */

const samples = new URL('../../../manifests/samples/triage-and-escalate/', import.meta.url)
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'graphwright-sample-'))
  mkdirSync(join(folder, 'input'))
  mkdirSync(join(folder, 'output'))
})

afterEach(() => rmSync(folder, { recursive: true }))

function runAgent(name: string, event: unknown, prompt: string) {
  const agents = sampleObjects('triage-and-escalate/agents.yaml') as Agent[]
  const container = agents.find((agent) => agent.metadata.name === name)?.spec.runtime.container
  const [command = '', ...args] = [...(container?.command ?? []), ...(container?.args ?? [])]
  writeFileSync(join(folder, 'input', 'event.json'), JSON.stringify(event))
  writeFileSync(join(folder, 'input', 'prompt.txt'), prompt)
  const moved = args.map((arg) => arg.replaceAll('/graphwright', folder))
  expect(command).toBe('node')
  const { status, stderr } = spawnSync(process.execPath, moved, { encoding: 'utf8' })
  return { status, stderr, result: status === 0 ? readFileSync(join(folder, 'output', 'result'), 'utf8') : undefined }
}

function eventFile(name: string): { items: { id: string }[] } {
  return JSON.parse(readFileSync(new URL(`events/${name}`, samples), 'utf8'))
}

describe('the sample triage-and-escalate', () => {
  it('escalates an incident, and the note names what is critical', () => {
    const event = eventFile('incident.json')
    const triage = runAgent('triage', event, 'Find what a person must look at now.')
    expect(JSON.parse(triage.result ?? '')).toEqual({
      escalate: true,
      summary: '1 of 3 items are critical',
      ids: ['INC-1041'],
    })
    const note = runAgent('escalate', event, triage.result ?? '')
    expect(note.result).toBe(
      'Please look now: 1 of 3 items are critical.\n- INC-1041: Checkout answers 500 to every third customer\n',
    )
  })

  it('finishes a quiet event', () => {
    expect(JSON.parse(runAgent('triage', eventFile('quiet.json'), '').result ?? '')).toMatchObject({ escalate: false })
  })

  it('follows the event, not the sample', () => {
    const items = [{ id: 'X-1', title: 'Database is full', severity: 'critical' }]
    expect(JSON.parse(runAgent('triage', { items }, '').result ?? '')).toMatchObject({ ids: ['X-1'] })
  })

  it('has nothing to do where a schedule brings no event', () => {
    expect(JSON.parse(runAgent('triage', null, '').result ?? '')).toMatchObject({ escalate: false, ids: [] })
  })

  it.each([
    ['no items', { things: [] }, 'The event has no list "items".'],
    ['an item without title', { items: [{ id: 'a', severity: 'low' }] }, 'items[0].title is missing or not a text.'],
    ['an item that is null', { items: [null] }, 'items[0].id is missing or not a text.'],
    ['a number as id', { items: [{ id: 1, title: 'a', severity: 'low' }] }, 'items[0].id is missing or not a text.'],
    ['a list as event', [], 'The event has no list "items".'],
    ['a number as event', 5, 'The event has no list "items".'],
  ])('fails on %s and says so', (_, event, message) => {
    const { status, stderr } = runAgent('triage', event, '')
    expect(status).toBe(1)
    expect(stderr).toContain(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})
