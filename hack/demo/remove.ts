import { kinds } from '../../src/api/kinds.ts'
import { operatorNamespace } from '../operator.ts'
import { type Access, helm, kubectl } from './access.ts'
import { sampleNamespace } from './foreign.ts'
import { Refusal } from './target.ts'

/**
 * Removes what the demo installed in a cluster of others, and nothing else. The operator goes last, because it takes the
 * finalizers off what runs. May be repeated after it was interrupted.
 * @param crds definitions that are there
 * @throws {Refusal} while there are objects of our kinds elsewhere: they would go with the definitions
 */
export function removeInstallation(access: Access, crds: readonly string[]): void {
  const others = objectsElsewhere(access, crds)
  if (others.length > 0) {
    throw new Refusal(
      `There are objects of Graphwright that the demo did not make, and they would go with its kinds:\n` +
        `${others.slice(0, 10).join('\n')}${others.length > 10 ? `\nand ${others.length - 10} more` : ''}\n` +
        'Delete them, then try again.',
    )
  }
  remove(access, ['namespace', sampleNamespace, '--timeout=180s'])
  helm(access, ['uninstall', 'graphwright', '--namespace', operatorNamespace, '--ignore-not-found', '--wait'])
  if (crds.length > 0) remove(access, ['crd', ...crds])
  remove(access, ['namespace', operatorNamespace, '--timeout=180s'])
}

function remove(access: Access, what: readonly string[]): void {
  kubectl(access, ['delete', ...what, '--ignore-not-found'])
}

/** Objects of our kinds outside of the sample's namespace, one a line. */
function objectsElsewhere(access: Access, crds: readonly string[]): string[] {
  const served = kinds.map(({ plural }) => `${plural}.graphwright.dev`).filter((name) => crds.includes(name))
  if (served.length === 0) return []
  const columns = 'custom-columns=NAMESPACE:.metadata.namespace,KIND:.kind,NAME:.metadata.name'
  const text = kubectl(access, ['get', served.join(','), '--all-namespaces', '--no-headers', '-o', columns])
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/))
  return lines
    .filter(([namespace, , name]) => name !== undefined && namespace !== sampleNamespace)
    .map(([namespace, kind, name]) => `  ${namespace}: ${kind} ${name}`)
}
