import { Argument, Command, CommanderError, Option } from 'commander'
import { apiVersion } from '../api/kind.ts'
import { printable } from '../lib/text.ts'
import { version } from '../lib/version.ts'
import { completionHelp, completionScript, type Shell, shells } from './completion-script.ts'
import { type CliError, cannotAsk, type Done, type ExitCode, exitCodes, type Io } from './io.ts'
import { formatOf, type GlobalOptions, outputFormats } from './options.ts'
import { print } from './output.ts'
import { addScheduleCommands, countBeforeNamespace } from './schedule-commands.ts'

const versionText = `graphwright ${version} (${apiVersion})`

/** Runs one command and returns the exit code. Commands are loaded when they are called, so that the tool starts fast. */
export async function main(args: readonly string[], world: Io): Promise<ExitCode> {
  // Names, messages and answers of agents were written by others.
  const io: Io = { ...world, err: (text) => world.err(printable(text)) }
  let exitCode: ExitCode = exitCodes.ok
  const program = buildProgram(io, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync(countBeforeNamespace(args), { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitCodes.ok
      if (error.code === 'commander.help') return exitCodes.couldNotAsk
      return report(usage(error, io), program.opts(), io)
    }
    const { explain } = await import('./problems.ts')
    return report(explain(error, io.signal), program.opts(), io)
  }
}

/** What commander found wrong with the arguments. Without a command it has printed the help, which says it all. */
function usage(error: CommanderError, io: Io): CliError {
  const text = error.message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '')
  return cannotAsk('usage', `${text}; see ${io.invocation} --help`, error)
}

/** One line on the error stream; where data was asked for, the refusal as data too. */
function report(error: CliError, options: GlobalOptions, io: Io): ExitCode {
  if (formatOf(options) !== undefined && error.exitCode !== exitCodes.interrupted) {
    print(io, options, { error: { code: error.code, message: error.message } }, () => '')
  }
  io.err(`error: ${error.code}: ${error.message}\n`)
  if (io.env.GRAPHWRIGHT_DEBUG) io.err(`${(error.cause as Error | undefined)?.stack ?? error.stack}\n`)
  return error.exitCode
}

/** The commands with their options and arguments. `done` is told the exit code of the one that ran. */
export function buildProgram(io: Io, done: Done): Command {
  const program = new Command(io.invocation)
    .description('Plans, approves, fires and traces automations of AI agents on Kubernetes.')
    .option('-n, --namespace <name>', 'namespace; default: that of the context')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--kubeconfig <file>', 'path of the kubeconfig')
    .addOption(new Option('-o, --output <format>', 'print data instead of text').choices(outputFormats))
    .option('--json', 'the same as -o json')
    .version(versionText, '--version', 'print the version')
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err, outputError: () => undefined })
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
  addGraphCommands(program, io, done)
  addRunCommands(program, io, done)
  addScheduleCommands(program, io, done)
  addUninstallCommand(program, io, done)
  addCompletionCommands(program, io)
  program
    .command('version')
    .description('print the version')
    .action((_options, command: Command) => {
      print(io, command.optsWithGlobals(), { version, apiVersion }, () => versionText)
    })
  return program
}

function addGraphCommands(program: Command, io: Io, done: Done): void {
  program
    .command('plan')
    .description('compile the graphs of a file, draw them, and say everything that is wrong; offline unless --live')
    .requiredOption(
      '-f, --filename <file>',
      'YAML or JSON file with one or several AutomationGraphs; - for standard input',
    )
    .option('--live', 'also say what applying would change in the cluster')
    .option('--ascii', 'draw without Unicode')
    .addHelpText('after', '\nExit codes: 0 planned, 1 rejected, 2 could not ask.')
    .action(async (_options, command: Command) => {
      const { planCommand } = await import('./plan.ts')
      done(await planCommand(command.optsWithGlobals(), io))
    })
  program
    .command('approve')
    .description('approve a plan; nothing else is ever applied')
    .argument('<plan>', "plan/NAME, or a graph's name for its pending plan")
    .action(async (reference: string, _options, command: Command) => {
      const { approveCommand } = await import('./approve.ts')
      done(await approveCommand(reference, command.optsWithGlobals(), io))
    })
  program
    .command('undo')
    .description('give a graph the document of an earlier revision, for a new plan to review')
    .argument('<graph>', 'name of the graph')
    .requiredOption('--to-revision <number>', 'a revision that a plan is kept of')
    .action(async (name: string, _options, command: Command) => {
      const { undoCommand } = await import('./undo.ts')
      done(await undoCommand(name, command.optsWithGlobals(), io))
    })
}

function addRunCommands(program: Command, io: Io, done: Done): void {
  program
    .command('list')
    .description('list Automations')
    .option('-A, --all-namespaces', 'of all namespaces')
    .action(async (_options, command: Command) => {
      const { listCommand } = await import('./list.ts')
      done(await listCommand(command.optsWithGlobals(), io))
    })
  program
    .command('run')
    .description('fire an Automation by hand')
    .argument('<automation>', 'name of the Automation')
    .option('--event <json>', 'event as JSON, or @ and the path of a file (@- for standard input)')
    .option('--idempotency-key <key>', 'repeating the same request with the same key rejoins its firing')
    .option('--trigger <id>', 'trigger to enter by; default: the manual one, else the only one')
    .option('--follow', 'wait until the firing has settled, and show its steps')
    .option('--exit-status', 'with --follow: exit 1 unless the firing completed')
    .action(async (name: string, _options, command: Command) => {
      const { runCommand } = await import('./run.ts')
      done(await runCommand(name, command.optsWithGlobals(), io))
    })
  program
    .command('cancel')
    .description('end a firing and what runs for it')
    .argument('<firing>', 'name of the firing')
    .option('--reason <text>', 'why, for those who look at it later')
    .action(async (name: string, _options, command: Command) => {
      const { cancelCommand } = await import('./cancel.ts')
      done(await cancelCommand(name, command.optsWithGlobals(), io))
    })
  program
    .command('runs')
    .description('list the newest firings of an Automation')
    .argument('<automation>', 'name of the Automation')
    .option('--limit <number>', 'firings at most', '10')
    .action(async (name: string, _options, command: Command) => {
      const { runsCommand } = await import('./runs.ts')
      done(await runsCommand(name, command.optsWithGlobals(), io))
    })
  program
    .command('trace')
    .description('show everything recorded of a firing')
    .argument('<firing>', 'name of the firing')
    .action(async (name: string, _options, command: Command) => {
      const { traceCommand } = await import('./trace.ts')
      done(await traceCommand(name, command.optsWithGlobals(), io))
    })
  program
    .command('logs')
    .description('print what the agents of a firing wrote')
    .argument('<name>', 'name of the firing or of one run')
    .option('--step <id>', 'of one step')
    .action(async (name: string, _options, command: Command) => {
      const { logsCommand } = await import('./logs.ts')
      done(await logsCommand(name, command.optsWithGlobals(), io))
    })
}

function addUninstallCommand(program: Command, io: Io, done: Done): void {
  program
    .command('uninstall')
    .description(
      'say what an uninstallation would break, lose or leave behind, and what to do; -n: namespace of the operator',
    )
    .option('--check', 'look, and change nothing; there is nothing else that this command does')
    .option('--workspaces <names>', 'look at these namespaces only, as in a,b; default: those that the operator serves')
    .addHelpText('after', '\nExit codes: 0 nothing is left, 1 something is, 2 could not ask or see everything.')
    .action(async (_options, command: Command) => {
      const { uninstallCommand } = await import('./uninstall.ts')
      done(await uninstallCommand(command.optsWithGlobals(), io))
    })
}

function addCompletionCommands(program: Command, io: Io): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .addHelpText('after', completionHelp(io.invocation))
    .action((shell: Shell) => io.out(completionScript(shell)))
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      const { completeCommand } = await import('./complete.ts')
      await completeCommand(program, words, io)
    })
}
