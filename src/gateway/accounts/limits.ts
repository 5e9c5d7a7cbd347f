/** Limits of what a key of a team may have. */
export const keyModelsMax = 50
export const keyNoteCharsMax = 500
export const keyTagsMax = 10
export const keyTagCharsMax = 40
export const projectsPerAccountMax = 100
export const projectNameCharsMax = 60
export const perMinuteMax = 1_000_000_000
/** Hours for which a rotated key may still be used. */
export const overlapHoursMax = 24 * 30
