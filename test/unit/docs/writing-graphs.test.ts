import { readFileSync } from 'node:fs'
import { load, loadAll } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { type GraphNode, nodeKinds } from '../../../src/api/graph-document.ts'
import { readGraphs } from '../../../src/cli/graph-file.ts'
import { compile } from '../../../src/graph/compile.ts'
import { runnableKinds } from '../../../src/graph/draft.ts'
import { documentOf, edge, now } from '../../kit/graph-documents.ts'

const page = readFileSync('docs/writing-graphs.md', 'utf8')
const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text)

/** First cells of the table under a heading. */
function rows(heading: string): string[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name)
}

describe('docs/writing-graphs.md', () => {
  it('begins with a graph that compiles without a warning, and all that it needs', () => {
    const [text = ''] = blocks
    const kinds = loadAll(text).map((resource) => (resource as { kind: string }).kind)
    expect(kinds).toEqual(['Environment', 'Agent', 'AutomationGraph'])
    const [graph] = readGraphs(text, 'hello.yaml')
    expect(graph?.errors).toEqual([])
    expect(graph && compile(graph.document, { now })).toMatchObject({ kind: 'compiled', warnings: [] })
  })

  it('shows a decision that compiles', () => {
    const { nodes } = load(blocks[1] ?? '') as { nodes: GraphNode[] }
    const around: GraphNode[] = [
      { id: 'by-hand', kind: 'trigger', trigger: { kind: 'manual' } },
      { id: 'report', kind: 'step_agent', agent: 'reporter', prompt: 'Report.' },
      {
        id: 'parsed',
        kind: 'step_parse_json',
        inputBindings: { content: { sourceNodeId: 'report', pointer: '' } },
        outputSchema: { type: 'object' },
      },
    ]
    const document = documentOf(
      [...around, ...nodes],
      [
        edge('starts', 'by-hand', 'report'),
        edge('then', 'report', 'parsed'),
        edge('then', 'parsed', 'urgent'),
        edge('continue', 'urgent'),
        edge('otherwise', 'urgent'),
      ],
    )
    expect(compile(document, { now })).toMatchObject({ kind: 'compiled' })
  })

  it('has a row for every kind of node that runs, and no other', () => {
    expect(new Set(rows('Nodes'))).toEqual(new Set(nodeKinds.filter((kind) => runnableKinds.has(kind))))
  })
})
