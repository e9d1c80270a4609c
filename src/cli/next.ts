import { automation } from '../api/automation.ts'
import { compile } from '../graph/compile.ts'
import { getNamed, withCluster } from './cluster.ts'
import { type GraphInFile, readGraphs } from './graph-file.ts'
import { readOptionalInstant } from './instants.ts'
import { cannotAsk, type ExitCode, exitCodes, type Io, refusal } from './io.ts'
import { type NextQuestion, nextOccurrences, renderNext } from './next-occurrences.ts'
import type { GlobalOptions } from './options.ts'
import { print } from './output.ts'
import { resultOf } from './plan-result.ts'
import { readText } from './text-file.ts'

export interface NextOptions extends GlobalOptions {
  readonly count: string
  readonly from?: string
  readonly to?: string
  readonly filename?: string
}

/** So many occurrences at most: more are no list for people, and are computed one by one. */
const maxCount = 10_000

/** `next NAME` and `next -f FILE`: what is to come by the clock. Nothing is changed. */
export async function nextCommand(name: string | undefined, options: NextOptions, io: Io): Promise<ExitCode> {
  const question = questionOf(options, io.clock.now())
  if ((name === undefined) === (options.filename === undefined)) {
    throw cannotAsk('usage', 'name an Automation, or the file of a graph by -f; one of the two')
  }
  if (name === undefined) await nextOfFile(options.filename ?? '', question, options, io)
  else await nextOfAutomation(name, question, options, io)
  return exitCodes.ok
}

function questionOf(options: NextOptions, now: Date): NextQuestion {
  const count = Number(options.count)
  if (!Number.isInteger(count) || count < 1 || count > maxCount) {
    throw cannotAsk('usage', `-n ${options.count} is no number from 1 to ${maxCount}`)
  }
  return {
    now,
    count,
    from: readOptionalInstant('--from', options.from, now),
    to: readOptionalInstant('--to', options.to, now),
  }
}

async function nextOfAutomation(name: string, question: NextQuestion, options: NextOptions, io: Io): Promise<void> {
  const live = await withCluster(options, (cluster) => getNamed(cluster, automation, name))
  const answer = nextOccurrences({ name, triggers: live.spec.triggers, policies: live.spec, live }, question)
  print(io, options, answer, () => renderNext(answer))
}

/** Offline: the graphs of a file, as `plan -f` reads them. */
async function nextOfFile(path: string, question: NextQuestion, options: NextOptions, io: Io): Promise<void> {
  const graphs = readGraphs(await readText(path, io), path)
  const answers = graphs.map((graph) => nextOccurrences(subjectOf(graph, path, question.now, io), question))
  const [first] = answers
  print(io, options, answers.length === 1 ? first : answers, () => answers.map(renderNext).join('\n\n'))
}

function subjectOf(graph: GraphInFile, path: string, now: Date, io: Io) {
  const result = resultOf(graph, compile(graph.document, { now, beside: graph.beside }))
  if (result.kind === 'planned') {
    const { triggers, document } = result.compiled
    return { name: graph.name, triggers, policies: document }
  }
  const listed = result.errors.map(({ code, detail }) => `${code}: ${detail}`).join('; ')
  throw refusal('rejected', `${graph.name} has errors, see ${io.invocation} plan -f ${path}: ${listed}`)
}
