import { describe, expect, it } from 'vitest'
import { documentOf, undoPatch } from '../../../src/cli/undo.ts'
import { digestJson } from '../../../src/lib/digest.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import { aGraph, aPlan } from '../../kit/builders.ts'
import { oneAgent } from '../../kit/graph-documents.ts'

const document = oneAgent() as unknown as JsonObject

describe('undo', () => {
  const plans = [1, 3, 3].map((revision, index) =>
    aPlan({ name: `triage-${index + 1}`, content: { revision, document: { revision } } }),
  )

  it('finds the document of a revision by its plan', () => {
    expect(documentOf(aGraph(), plans, 3)).toEqual({ revision: 3 })
  })

  it.each([
    [plans, /no plan of revision 2 \(any more\); kept are: 1, 3 \(planHistoryLimit is 10\)/],
    [[], /no revision is kept/],
  ])('says which revisions are kept', (kept, message) => {
    expect(() => documentOf(aGraph(), kept, 2)).toThrow(
      expect.objectContaining({ code: 'not_found', exitCode: 2, message: expect.stringMatching(message) }),
    )
  })

  it('replaces the document, and nothing beside it', () => {
    const graph = aGraph({ spec: { layout: { x: 1 } } })
    expect(undoPatch(graph, document)).toEqual({ spec: document })
  })

  it('takes policies away that the document of then did not have', () => {
    const graph = aGraph({ spec: { concurrencyPolicy: 'Forbid' } })
    expect(undoPatch(graph, document)).toEqual({ spec: { ...document, concurrencyPolicy: null } })
  })

  it('changes nothing where the graph says the same, in whatever way', () => {
    expect(undoPatch(aGraph({ spec: oneAgent() }), document)).toBeUndefined()
    const seen = { observedGeneration: 1, documentDigest: digestJson(document) }
    expect(undoPatch(aGraph({ status: seen }), document)).toBeUndefined()
    expect(undoPatch(aGraph({ status: { ...seen, observedGeneration: 0 } }), document)).toBeDefined()
  })
})
