import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** End-to-end tests: those that wait for the clock begin, so that others run meanwhile; who needs the cluster alone ends. */
const first = ['schedules', 'failures', 'cancel']
const last = ['restarts', 'pace', 'firewall', 'crash', 'nodes']

/** Files in the order in which they are to begin; what it does not know keeps its place in between. */
export class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

function placeOf({ moduleId, project }: TestSpecification): number {
  if (project.name !== 'e2e') return 0
  const story = basename(moduleId, '.test.ts')
  return first.includes(story) ? first.indexOf(story) - first.length : last.indexOf(story) + 1
}
