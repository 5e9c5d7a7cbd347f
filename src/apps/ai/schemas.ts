import { Type } from '@sinclair/typebox'

/** The models of an app, as its shell reads them. */
export const AppAiSchema = Type.Object({
  limits: Type.Object(
    { textBytesMax: Type.Integer(), fileBytesMax: Type.Integer() },
    { description: 'The bounds of one call, which the app sees.' },
  ),
})
