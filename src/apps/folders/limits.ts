/** Limits of skills and frameworks (docs/spec/packs-and-runs.md, "Packs"), then of apps. */
const kb = 1_024

export const packBytesMax = 2 * 1_024 * kb
export const packFilesMax = 100
export const skillTextBytesMax = 256 * kb
export const nameCharsMax = 64
export const frontmatterBytesMax = 16 * kb
export const frontmatterDescriptionCharsMax = 1_024
export const compatibilityCharsMax = 500
export const metadataEntriesMax = 50
/** A part of a path, and the folder of a file: a tar header has no more space. */
export const pathPartCharsMax = 100
export const pathFolderCharsMax = 90
/** Base64, or text of which JSON escapes every byte, and space for the fields around it. */
export const packJsonBytesMax = 13 * 1_024 * kb
/** A zip of files that do not shrink, with its headers. */
export const packZipBytesMax = packBytesMax + 64 * kb
export const stepsMax = 50
export const stepTitleCharsMax = 120
export const stepDoneCharsMax = 300
export const sharePercentMax = 50
export const reasonsMax = 20
/** Packs in an index for installers. */
export const indexPacksMax = 1_000

/** The most bytes of the headers of a zip. */
const zipHeaderBytesMax = 4 * 1_024 * kb

/** Returns the bounds of a zip of an app, which settings give. */
export const pageZipLimits = ({ folderFiles, folderBytes, folderFileBytes }: FolderSettings) => ({
  zipBytesMax: folderBytes + zipHeaderBytesMax,
  bytesMax: folderBytes,
  filesMax: folderFiles,
  fileBytesMax: folderFileBytes,
})

interface FolderSettings {
  folderFiles: number
  folderBytes: number
  folderFileBytes: number
}
