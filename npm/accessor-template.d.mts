export const TEMPLATE: URL;
export function accessorTemplate(): string;
