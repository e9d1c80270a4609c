import { z } from 'zod'
import { digestField, objectName, uidField } from './fields.ts'

/** How one kind names an object of another, where several do. */

/** The very firing, not one that takes its name later. */
export const firingReference = z.strictObject({
  name: objectName('Name of the AutomationFiring.'),
  uid: uidField('Its UID.'),
})
export type FiringReference = z.infer<typeof firingReference>

/** A program by its content: the same digest is the same program. */
export const programReference = z.strictObject({
  name: objectName('Name of the AutomationProgram.'),
  digest: digestField('Its digest.'),
})
