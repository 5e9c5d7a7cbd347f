/** A command's answer: lines for a person, and whether it went well. */
export interface Outcome {
  ok: boolean
  text: string
}
