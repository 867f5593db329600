export declare function builtFolder(entryPoints: readonly string[], sources: readonly string[]): Promise<URL>;
