export type Erased = Readonly<Record<string, number>>;
