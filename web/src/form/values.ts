// Values that a person typed into the form, checked against the parameter table.
import type { Machine, MachineChanges, Parameter, ParameterValue } from '../api/types';
import { parseNumber, quantity } from '../format/quantity';
import type { Key } from '../i18n/i18n';

export type Fault = { key: Key; values: Record<string, string> };
export type Parsed = { value: ParameterValue } | { fault: Fault };

/** The value that a text means for a parameter, or why it means none. */
export function parseValue(parameter: Parameter, text: string): Parsed {
  if (parameter.type === 'flag') {
    if (text === 'true' || text === 'false') return { value: text === 'true' };
    return { fault: { key: 'fault.flag', values: {} } };
  }
  if (parameter.type === 'choice') {
    return parameter.choices.includes(text) ? { value: text } : { fault: { key: 'fault.choice', values: { value: text } } };
  }
  const value = parseNumber(text);
  if (value === null) return { fault: { key: 'fault.number', values: {} } };
  if (parameter.type === 'count' && !Number.isInteger(value)) return { fault: { key: 'fault.whole', values: {} } };
  if (parameter.type === 'decimal' && Math.abs(value * 100 - Math.round(value * 100)) > 1e-9) {
    return { fault: { key: 'fault.hundredths', values: {} } };
  }
  const { min, max } = parameter;
  if ((min !== null && value < min) || (max !== null && value > max)) {
    const values = { min: quantity(min, parameter.unit), max: quantity(max, parameter.unit) };
    return { fault: { key: 'fault.range', values } };
  }
  return { value };
}

/** How a value stands in an input: bytes in binary units where that loses nothing. */
export function inputText(parameter: Parameter, value: ParameterValue): string {
  if (typeof value !== 'number' || parameter.unit !== 'B' || value < 1024) return String(value);
  for (const [unit, size] of [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]] as const) {
    if (value % size === 0) return `${value / size} ${unit}`;
  }
  return String(value);
}

/** Before the name of a row of the technology table, where one stands among parameters. */
export const technology = 'technology.';

/** A machine as the server says it, with each technology figure of its own as a setting beside the parameters. */
export function settingsOf({ technology: own = {}, ...parameters }: Partial<MachineChanges>): Machine {
  return { ...(parameters as Record<string, unknown> as Machine), ...Object.fromEntries(Object.entries(own).map(([row, value]) => [technology + row, value])) };
}

/** Settings as a request says them. They were checked against the parameter table; the server checks them again. */
export function changesOf(settings: Machine): MachineChanges {
  const said: Record<string, unknown> = {};
  const figures: Record<string, number> = {};
  for (const [name, value] of Object.entries(settings)) {
    if (name.startsWith(technology)) figures[name.slice(technology.length)] = Number(value);
    else said[name] = value;
  }
  if (Object.keys(figures).length > 0) said.technology = figures;
  return said as MachineChanges;
}

/** The preset of a page or a request that names none, as of the server. */
export const defaultPreset = 'balanced';

/** The settings that differ from the preset: what a request needs to say. */
export function changedFrom(preset: Machine, settings: Machine): Machine {
  return Object.fromEntries(Object.entries(settings).filter(([name, value]) => preset[name] !== value));
}

/** Settings as one short text for the address: `cores:8,weight_format:int8`. */
export const encodeSettings = (settings: Machine): string =>
  Object.entries(settings).map(([name, value]) => `${name}:${String(value)}`).join(',');

/** The settings that a text of the address means; what the table does not know or allow is left out, and the server says what it thinks of technology figures. */
export function decodeSettings(text: string, parameters: Parameter[]): Machine {
  const settings: Machine = {};
  for (const part of text.split(',')) {
    const colon = part.indexOf(':');
    const name = part.slice(0, colon);
    if (name.startsWith(technology) && Number(part.slice(colon + 1)) > 0) settings[name] = Number(part.slice(colon + 1));
    const parameter = parameters.find((one) => one.name === name);
    if (!parameter) continue;
    const parsed = parseValue(parameter, part.slice(colon + 1));
    if ('value' in parsed) settings[parameter.name] = parsed.value;
  }
  return settings;
}

/** Whether what a parameter belongs to is in use: one of the values it is shown with, or any but the default. */
export function isShown(parameter: Parameter, table: Parameter[], valueOf: (name: string) => ParameterValue | undefined): boolean {
  return parameter.shown_with.length === 0 || parameter.shown_with.some(({ parameter: name, values }) => {
    const value = valueOf(name);
    return values.length > 0 ? values.includes(String(value)) : value !== table.find((one) => one.name === name)?.default;
  });
}

export interface Group {
  name: string;
  parameters: Parameter[];
}

/** The parameters by group, in the table's order. */
export function groupsOf(parameters: Parameter[]): Group[] {
  const groups: Group[] = [];
  for (const parameter of parameters) {
    const group = groups.find((one) => one.name === parameter.group);
    if (group) group.parameters.push(parameter);
    else groups.push({ name: parameter.group, parameters: [parameter] });
  }
  return groups;
}
