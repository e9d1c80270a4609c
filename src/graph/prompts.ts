import { referencesOf } from '../lib/template.ts'
import { type Draft, nodesOf } from './draft.ts'
import type { Findings } from './findings.ts'
import { limits } from './limits.ts'

/** Checks the templates of prompts. What is no reference to the event is sent as it stands, so it is only advised on. */
export function checkPrompts(draft: Draft, findings: Findings): void {
  for (const { id, prompt } of nodesOf(draft, 'agent', 'step_agent')) {
    if (prompt === undefined) continue
    const bytes = Buffer.byteLength(prompt)
    if (bytes > limits.promptBytes) {
      findings.error(
        'limit_exceeded',
        `the prompt of ${id} has ${bytes} bytes, at most ${limits.promptBytes}: shorten it`,
        {
          node: id,
        },
      )
    }
    for (const braces of unknownBraces(prompt)) {
      findings.warn(
        'template_unknown',
        `${braces} in the prompt of ${id} is no reference and is sent as it stands; {{event}} and {{event.path[0].field}} are replaced`,
        { node: id },
      )
    }
  }
}

/** Braces that look like a reference and are none, each once. */
function unknownBraces(prompt: string): Set<string> {
  const written = prompt.match(/\{\{[^{}]{0,80}\}{0,2}/g) ?? []
  return new Set(written.filter((braces) => referencesOf(braces).length === 0))
}
