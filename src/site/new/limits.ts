const kb = 1_024

/** The HTML of a draft that a sign-up form carries, and the form with it. */
export const draftHtmlBytesMax = 128 * kb
export const draftFormBytesMax = 512 * kb
/** A draft in a form is valid for this time. */
export const draftMs = 86_400_000
