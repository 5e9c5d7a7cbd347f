export const collectionsPerAgentMax = 100
export const collectionItemsMax = 100
export const collectionTitleCharsMax = 80
export const collectionTextCharsMax = 300
