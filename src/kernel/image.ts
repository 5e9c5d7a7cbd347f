const side = 64

/** Checks whether an image has one color: then its thumbnail equals its mean color. */
export async function isBlankImage(bytes: Uint8Array): Promise<boolean> {
  const small = (from: Uint8Array) => new Bun.Image(from).resize(side, side).png().bytes()
  const mean = await new Bun.Image(bytes).resize(1, 1).png().bytes()
  return Buffer.compare(await small(bytes), await small(mean)) === 0
}
