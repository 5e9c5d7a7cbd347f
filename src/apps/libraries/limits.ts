/** Library files of one page, and their bytes in total. */
export const filesPerPageMax = 400
export const bytesPerPageMax = 24 * 1_048_576

/** Files that scripts of a page load from its address when they need them, and their bytes. */
export const onDemandFilesMax = 500
export const onDemandBytesMax = 48 * 1_048_576

/** Files beside a script that are looked up by the names in it. */
export const namedFilesMax = 30

/** URLs, import map entries and imported names of one page that are looked up. */
export const referencesPerPageMax = 300

/** Files of one package. */
export const libraryFilesMax = 5_000

/** Libraries that an operator may add. */
export const addedLibrariesMax = 500

/** Fetched packages. Then the oldest ones that no app uses are removed for new ones. */
export const fetchedLibrariesMax = 500

/** Packages that are fetched for one page, and the bytes of the tarball of one. */
export const fetchedPerPageMax = 10
export const fetchedBytesMax = 10 * 1_048_576

/** Libraries whose apps are counted: added ones, and those of this and earlier binaries. */
export const usedLibrariesMax = 2_000

/** Bytes of one file of an added library, and of all its files. */
export const libraryFileBytesMax = 10 * 1_048_576
export const libraryBytesMax = 64 * 1_048_576
