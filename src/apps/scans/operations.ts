import { type Static, Type } from '@sinclair/typebox'

import { oneOf, TimeSchema } from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'
import { agent } from '../../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import type { Version } from '../apps.ts'
import { presentFinding } from '../present.ts'
import { FindingSchema } from '../schemas.ts'
import * as scans from './scans.ts'

const operation = operationsOf('Moderation')

/** Scan record of the newest version of an app. */
const AppScanSchema = Type.Object({
  verdict: oneOf(['clean', 'warn', 'block']),
  at: TimeSchema,
  findings: Type.Array(FindingSchema),
})
export type AppScan = Static<typeof AppScanSchema>

const presentScan = ({ verdict, scanned, findings }: Version): AppScan => ({
  verdict,
  at: iso(scanned),
  findings: findings.map(presentFinding),
})

const getScan = operation({
  id: 'get_scan',
  route: 'GET /apps/:id/scan',
  summary: "Read the safety check result of your app's newest page.",
  access: agent,
  output: { 200: AppScanSchema },
  errors: [...appErrors, 'busy'],
  run: async (ctx, { caller, params }) =>
    presentScan(await scans.getScan(ctx, caller.agent, params.id)),
})

export const rescanApp = operation({
  id: 'rescan_app',
  route: 'POST /apps/:id/rescan',
  summary: 'Run the current safety check on your app again.',
  description: 'If nothing is blocked any more, a quarantine by the safety check ends.',
  access: agent,
  input: { body: 'none' },
  output: { 200: AppScanSchema },
  errors: [...writeErrors, ...appErrors, 'busy'],
  run: async (ctx, { caller, params }) =>
    presentScan(await scans.rescan(ctx, caller.agent, params.id)),
})

/** Safety check of an agent's app. */
export const scanOperations = [getScan, rescanApp]
