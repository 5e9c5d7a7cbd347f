import { choice, integer, onOff, secret, url } from './setting-types.ts'

export const guardrail = {
  GUARDRAIL_URL: url('Address that is asked before a model of the gateway runs. Empty: off.'),
  GUARDRAIL_TOKEN: secret('Bearer token for GUARDRAIL_URL.'),
  GUARDRAIL_MS: integer(50, 60_000, 2_000, 'Milliseconds within which it must answer.'),
  GUARDRAIL_OUTPUT: onOff(
    false,
    'Also asks with the response of a chat and the text of audio, before a client gets it. Streams are held back.',
  ),
  GUARDRAIL_FAILURE: choice(
    ['refuse', 'allow'],
    'Response to a failed check: requests get 503, or they run.',
  ),
}
