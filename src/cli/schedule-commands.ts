import type { Command } from 'commander'
import type { Done, Io } from './io.ts'

const instant = 'a date and time with its offset, or now'

/** The commands about what goes by the clock, and what holds it. */
export function addScheduleCommands(program: Command, io: Io, done: Done): void {
  addPauseCommands(program, io, done)
  program
    .command('next')
    .description('list what is to come of an Automation, or offline of the graphs of a file')
    .argument('[automation]', 'name of the Automation')
    .option('-f, --filename <file>', 'YAML or JSON file with AutomationGraphs instead; - for standard input')
    .option('--count <number>', 'occurrences at most; -n with a number is the same here', '10')
    .option('--from <time>', `from then on: ${instant}; default: what has not started yet`)
    .option('--to <time>', `up to then: ${instant}`)
    .action(async (name: string | undefined, _options, command: Command) => {
      const { nextCommand } = await import('./next.ts')
      done(await nextCommand(name, command.optsWithGlobals(), io))
    })
  program
    .command('explain')
    .description('say why an occurrence of an Automation ran or did not')
    .argument('<automation>', 'name of the Automation')
    .option('--at <time>', `when it was or was not due: ${instant}; default: the last occurrence`)
    .action(async (name: string, _options, command: Command) => {
      const { explainCommand } = await import('./explain.ts')
      done(await explainCommand(name, command.optsWithGlobals(), io))
    })
  program
    .command('backfill')
    .description('make up for missed occurrences by firings made by hand')
    .argument('<automation>', 'name of the Automation')
    .requiredOption('--from <time>', `from then on: ${instant}`)
    .requiredOption('--to <time>', `up to then: ${instant}`)
    .option('--dry-run', 'say what would be made, and make nothing')
    .option('--unrecorded', 'also those of which no record is left; they may have run')
    .option('--yes', 'make more than ten firings')
    .action(async (name: string, _options, command: Command) => {
      const { backfillCommand } = await import('./backfill.ts')
      done(await backfillCommand(name, command.optsWithGlobals(), io))
    })
}

function addPauseCommands(program: Command, io: Io, done: Done): void {
  program
    .command('pause')
    .description('let nothing new of an Automation start; what is under way goes on')
    .argument('<automation>', 'name of the Automation')
    .action(async (name: string, _options, command: Command) => {
      const { pauseCommand } = await import('./pause.ts')
      done(await pauseCommand(name, command.optsWithGlobals(), io))
    })
  program
    .command('resume')
    .description('let a paused Automation start again, if it is ready')
    .argument('<automation>', 'name of the Automation')
    .action(async (name: string, _options, command: Command) => {
      const { resumeCommand } = await import('./pause.ts')
      done(await resumeCommand(name, command.optsWithGlobals(), io))
    })
}

/** Options of the whole tool that take the word after them. */
const valued = ['-n', '--namespace', '--context', '--kubeconfig', '-o', '--output']

/**
 * In `next`, -n with a number is how many, as with head and tail; everywhere else, and with any other word, it is the
 * namespace. A namespace that is a number is written --namespace there.
 */
export function countBeforeNamespace(args: readonly string[]): string[] {
  const command = args.findIndex((word, index) => !word.startsWith('-') && !valued.includes(args[index - 1] ?? ''))
  if (args[command] !== 'next') return [...args]
  return args.map((word, index) => {
    if (index < command) return word
    if (word === '-n' && /^\d+$/.test(args[index + 1] ?? '')) return '--count'
    return word.replace(/^-n=?(?=\d+$)/, '--count=')
  })
}
