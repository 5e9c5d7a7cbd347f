import { Refusal } from '../../refusals.ts'

/** The refusal of a field that does not fit, named in the envelope's `param`. */
export function misfit(param: string, problem: string): Refusal<'bad_request'> {
  const facts = { problem, param }
  return new Refusal('bad_request', facts)
}
