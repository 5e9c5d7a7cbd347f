import { type Static, Type } from '@sinclair/typebox'

const HexSchema = (digits: number) => Type.String({ pattern: `^0x[0-9a-fA-F]{${digits}}$` })
/** An unsigned decimal within 256 bits: no sign, no exponent, no leading zero. */
const UintSchema = Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$' })

/** A signed `transferWithAuthorization` (ERC-3009), as both versions of x402 send it. */
const SignedAuthorizationSchema = Type.Object({
  signature: Type.String({ pattern: '^0x([0-9a-fA-F]{2}){65,4096}$' }),
  authorization: Type.Object({
    from: HexSchema(40),
    to: HexSchema(40),
    value: UintSchema,
    validAfter: UintSchema,
    validBefore: UintSchema,
    nonce: HexSchema(64),
  }),
})
export type SignedAuthorization = Static<typeof SignedAuthorizationSchema>
