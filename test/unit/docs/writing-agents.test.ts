import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { agentSpec } from '../../../src/api/agent.ts'
import { inlineEventLimitBytes } from '../../../src/api/fields.ts'
import { outputErrors, outputLimitBytes } from '../../../src/api/run-api.ts'
import { renderedLimitBytes } from '../../../src/lib/template.ts'
import { defaultJobRetentionSeconds } from '../../../src/reconcilers/run/job-settings.ts'
import { podSpecFor } from '../../../src/reconcilers/run/pod-spec.ts'
import { anAgentVersion, anEnvironment } from '../../kit/builders.ts'
import { jobSettings } from '../../kit/job-settings.ts'

const page = readFileSync('docs/writing-agents.md', 'utf8')
const pod = podSpecFor(anEnvironment().spec, anAgentVersion().spec, jobSettings)
const [container] = pod.containers

describe('docs/writing-agents.md', () => {
  it('names every path that the container has, and how it is mounted', () => {
    const mounts = container?.volumeMounts ?? []
    expect(mounts.length).toBeGreaterThan(3)
    expect(mounts.filter(({ mountPath }) => !page.includes(`\`${mountPath}`))).toEqual([])
    const tryOut = page.slice(page.indexOf('docker run'))
    for (const { mountPath, readOnly } of mounts) {
      expect(tryOut).toMatch(new RegExp(`(--tmpfs |:)${mountPath}(${readOnly ? ':ro"' : '[ ":\n]'})`))
    }
  })

  it('tries it out as the user, with the home and the limits of the pod', () => {
    const { runAsUser, runAsGroup, readOnlyRootFilesystem, capabilities } = container?.securityContext ?? {}
    expect({ readOnlyRootFilesystem, capabilities }).toEqual({
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(page).toContain(`--user ${runAsUser}:${runAsGroup} --read-only --cap-drop ALL`)
    expect(page).toContain(`user and group ${runAsUser}`)
    const home = container?.env?.find(({ name }) => name === 'HOME')?.value
    expect(page).toContain(`--env HOME=${home}`)
  })

  it('has the limits of the code', () => {
    expect(page).toContain(`at most ${outputLimitBytes / 1024 / 1024} MiB`)
    expect(page).toContain(`A rendered prompt has at most ${renderedLimitBytes / 1024} KiB`)
    expect(page).toContain(`an event ${inlineEventLimitBytes / 1024} KiB`)
    expect(defaultJobRetentionSeconds).toBe(600) // "ten minutes"
    expect(pod.terminationGracePeriodSeconds).toBe(100)
    expect(page).toContain('100 seconds')
    expect(outputErrors.filter((code) => !page.includes(`\`${code}\``))).toEqual([])
  })

  it('shows an agent that the API takes', () => {
    const [, text = ''] = page.split('```yaml\n')
    const { spec } = load(text.split('```')[0] ?? '') as { spec: unknown }
    expect(agentSpec.safeParse(spec).error).toBeUndefined()
  })
})
