const side = 64

/** Whether a picture has one colour all over: made small, it is what its mean is. */
export async function isBlank(bytes: Uint8Array): Promise<boolean> {
  const small = (from: Uint8Array) => new Bun.Image(from).resize(side, side).png().bytes()
  const mean = await new Bun.Image(bytes).resize(1, 1).png().bytes()
  return Buffer.compare(await small(bytes), await small(mean)) === 0
}
