import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { candidatesFor, writtenOptions } from '../../../src/cli/completion.ts'
import { completionScript } from '../../../src/cli/completion-script.ts'
import type { Io } from '../../../src/cli/io.ts'
import { buildProgram } from '../../../src/cli/main.ts'
import { runCli } from '../../kit/fake-io.ts'

const program = buildProgram({ out: () => {}, err: () => {}, invocation: 'graphwright' } as Partial<Io> as Io, () => {})
const complete = (line: string) => candidatesFor(program, line.split(' '))

describe('completion', () => {
  it.each([
    ['ba', ['backfill']],
    ['-n team pa', ['pause']],
    ['next --f', ['--filename', '--from']],
    ['--out', ['--output']],
    ['list -o ', ['json', 'yaml']],
    ['-o ya', ['yaml']],
    ['completion z', ['zsh']],
    ['backfill x --d', ['--dry-run']],
    ['run x --event ', []],
    ['run x y', []],
    ['nonsense ', []],
  ])('%j', (line, words) => {
    expect(complete(line)).toEqual(
      line.startsWith('nonsense') ? { words: expect.arrayContaining(['run']), names: [] } : { words, names: [] },
    )
  })

  it('offers every command, and not its own', () => {
    expect(complete('').words).toEqual(expect.arrayContaining(['plan', 'undo', 'completion', 'version']))
    expect(complete('_').words).toEqual([])
  })

  it.each([
    ['run ', ['Automation']],
    ['next --count 3 ', ['Automation']],
    ['trace n', ['AutomationFiring']],
    ['approve ', ['AutomationGraph', 'AutomationGraphPlan']],
    ['undo ', ['AutomationGraph']],
  ])('%j asks the cluster', (line, names) => {
    expect(complete(line).names).toEqual(names)
  })

  it('asks for the names of every command that takes the name of an object', () => {
    const takesName = program.commands.filter(({ registeredArguments: [first] }) => first && !first.argChoices)
    const named = takesName.map((command) => command.name()).filter((name) => !name.startsWith('_'))
    expect(named).toContain('cancel')
    expect(named.filter((name) => complete(`${name} `).names.length === 0)).toEqual([])
  })

  it('asks in the namespace and context that are written', () => {
    expect(writtenOptions(program, 'run -n team --context prod --kubeconfig'.split(' '))).toEqual({
      namespace: 'team',
      context: 'prod',
    })
  })

  it('is silent where there is no cluster', async () => {
    const answer = await runCli(['__complete', '--', '--kubeconfig', '/nowhere', 'run', ''])
    expect(answer).toEqual({ code: 0, out: '', err: '' })
  })

  it('prints what may stand there, a line each', async () => {
    expect(await runCli(['__complete', '--', 're'])).toEqual({ code: 0, out: 'resume\n', err: '' })
  })

  it('refuses a shell that it does not know', async () => {
    expect(await runCli(['completion', 'tcsh'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('bash, zsh, fish'),
    })
  })

  it('completes in bash', () => {
    const lines = [
      // Stands in for the tool: it says what it was asked.
      'graphwright() { shift 2; printf "%s\\n" "asked:$*"; }',
      completionScript('bash'),
      'COMP_WORDS=(graphwright next "" --from); COMP_CWORD=2',
      '_graphwright; printf "%s|" "$' + '{COMPREPLY[@]}"',
      'complete -p graphwright',
    ]
    const out = execFileSync('bash', ['--norc', '-c', lines.join('\n')], { encoding: 'utf8' })
    expect(out).toBe('asked:next |complete -o default -F _graphwright graphwright\n')
  })
})
