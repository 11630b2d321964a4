/** The same as in package.json and the manifest; a test compares them. */
export const VERSION = "0.1.0";
