import { z } from 'zod'
import { messageField, objectName, timeField, uidField } from './fields.ts'
import { pauseClasses } from './pause.ts'

/** Path under which the manager has the gateway send notices. */
export const internalNoticesPath = '/internal/v1/notices'

/** What is posted to the address for notices, as JSON, once for each pause that an Automation makes itself. */
export const pauseNotice = z.strictObject({
  id: z.string().min(1).max(128).describe('The same for the same pause, should it be sent twice.'),
  type: z.literal('automation.paused'),
  text: messageField('The notice in words; chat programs show this field.'),
  automation: z.strictObject({
    namespace: z.string().min(1).max(63),
    name: objectName('Name of the Automation.'),
    uid: uidField('Its UID.'),
  }),
  reason: z.string().max(128).describe('Reason of the failure that paused it.'),
  class: z.enum(pauseClasses).describe('Whether it tries again by itself.'),
  message: messageField('What failed, in its own words.'),
  streak: z.int().min(1).describe('Failures in a row.'),
  since: timeField('When it paused.'),
  firing: objectName('Name of the firing that failed last.'),
})
export type PauseNotice = z.infer<typeof pauseNotice>
