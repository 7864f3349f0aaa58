// Written by `wardgate compile --emit`, together with the bundle below. Do not edit.
import * as entry from "wardgate/accessors";

export const format = 5;
export const bundle = BUNDLE;
export const names = NAMES;

export function decideRequest(plans, request) {
    const mine = begin();
    if (isDisturbed() || !isObject(request) || (request.__proto__ !== OBJECT && !isPlain(request)))
        return UNSURE;
    const { principal, action, resource } = request;
    if (!isObject(principal) || (principal.__proto__ !== OBJECT && !isPlain(principal)))
        return UNSURE;
    if (!isObject(resource) || (resource.__proto__ !== OBJECT && !isPlain(resource)))
        return UNSURE;
    const { kind, id: resourceId, scope, policyVersion } = resource;
    if (typeof kind !== "string" || typeof resourceId !== "string" || typeof action !== "string")
        return UNSURE;
    const kinds = scope === undefined && policyVersion === undefined ? plans.kinds : plans.kindsOf(policyVersion, scope);
    if (kinds === null)
        return UNSURE;
    const place = digest(kind) & kinds.mask;
    const list = kinds.names[place] === kind ? kinds.lists[place] : kinds.miss(plans, kind);
    if (list === null)
        return UNSURE;
    const { id: principalId, roles } = principal;
    if (typeof principalId !== "string")
        return UNSURE;
    const isOwn = plans.hasPrincipals === true && plans.principals.has(principalId);
    const plan = isOwn ? ownPath(plans, kinds, principal, kind, action) : planFor(list, action);
    if (plan === null)
        return UNSURE;
    const { frame } = plans;
    const mask = plan.flags & BY_CLASS ? classesOf(plan.roles, roles, frame) : maskOf(plan.roles, roles);
    if (mask < 0)
        return UNSURE;
    let principalAttr = NOTHING;
    if (plan.readsPrincipal === true) {
        const { attr } = principal;
        if (isObject(attr) && !Array.isArray(attr) && (attr.__proto__ === OBJECT || isPlain(attr)))
            principalAttr = attr;
        else if (attr !== undefined || !hasOnly(principal, PRINCIPAL_MEMBERS))
            return UNSURE;
    }
    const tokens = plan.readsTokens === true ? tokensIn(request) : NO_TOKENS;
    if (tokens === null)
        return UNSURE;
    let resourceAttr = NOTHING;
    if (plan.readsResource === true) {
        const { attr } = resource;
        if (isObject(attr) && !Array.isArray(attr) && (attr.__proto__ === OBJECT || isPlain(attr)))
            resourceAttr = attr;
        else if (attr !== undefined || !hasOnly(resource, RESOURCE_MEMBERS))
            return UNSURE;
    }
    frame.used = ARENA_START;
    const { words, numbers } = frame;
    const { steps, details, from, to } = plan;
    let o = NOTHING;
    let key = mask;
    let u0, u1, u2, u3;
    let more;
    for (let at = from; at < to; at += 2) {
        const step = steps[at];
        if (step & FROM_RESOURCE)
            o = resourceAttr;
        else if (step & FROM_PRINCIPAL)
            o = principalAttr;
        let v;
        switch (steps[at + 1] >>> ACCESSOR) {
READS            case BY_NAME: {
                const { name } = details[steps[at + 1] & DETAIL];
                if (name in OBJECT)
                    return UNSURE;
                v = o[name];
                break;
            }
            case PRINCIPAL_ID:
                v = principalId;
                break;
            case RESOURCE_ID:
                v = resourceId;
                break;
            case RESOURCE_KIND:
                v = kind;
                break;
            case PRINCIPAL_ROLES:
                v = roles;
                break;
            case WHOLE:
                v = o;
                break;
            case CLAIMS:
                v = tokens.jwt;
                break;
            case TOKENS:
                v = tokens.jwts;
                break;
            default: return UNSURE;
        }
        const slot = (step >>> SLOT) & SLOT_MASK;
        if (!(step & LAST)) {
            if (isObject(v) && !Array.isArray(v) && (v.__proto__ === OBJECT || isPlain(v))) {
                o = v;
                continue;
            }
            const word = brokenWord(v, steps[at + 2]);
            if (word < 0)
                return UNSURE;
            words[slot] = word;
            operands[slot] = undefined;
            do
                at += 2;
            while (at < to && !(steps[at] & LAST));
            continue;
        }
        if (step & USED) {
            if (step & HELD && !hold(frame, slot, v, step))
                return UNSURE;
            if (step & OPERAND)
                operands[slot] = v;
            if (step & TESTED) {
                const word = testWord(frame, slot, details[steps[at + 1] & DETAIL].test, v);
                if (word < 0)
                    return UNSURE;
                words[slot] = word;
                key = (key << DIGIT) | (word > TRUE ? ODD : word);
                continue;
            }
        }
        let word = MISSING;
        let digit = MISSING;
        const isTrue = +(v === true);
        if (isTrue | +(v === false))
            digit = word = FALSE + isTrue;
        else if (typeof v === "string") {
            if (step & APART)
                word = apartWord(details[steps[at + 1] & DETAIL].constants, v, step);
            if (word !== MISSING) { }
            else if (v === u0)
                word = TEMPORARY;
            else if (u0 === undefined) {
                u0 = v;
                word = TEMPORARY;
            }
            else if (v === u1)
                word = TEMPORARY + 1;
            else if (u1 === undefined) {
                u1 = v;
                word = TEMPORARY + 1;
            }
            else if (v === u2)
                word = TEMPORARY + 2;
            else if (u2 === undefined) {
                u2 = v;
                word = TEMPORARY + 2;
            }
            else if (v === u3)
                word = TEMPORARY + 3;
            else if (u3 === undefined) {
                u3 = v;
                word = TEMPORARY + 3;
            }
            else
                word = laterWord((more ??= []), v);
            digit = word - STRINGS;
        }
        else if (typeof v === "number") {
            if (v - v !== 0)
                return UNSURE;
            numbers[slot] = v;
            word = NUMBER;
            digit = ODD;
        }
        else if (v === null)
            digit = word = NULL;
        else if (v !== undefined) {
            if (!isListOrMap(v))
                return UNSURE;
            word = VALUE;
            digit = ODD;
        }
        words[slot] = word;
        key = (key << DIGIT) | digit;
    }
    const answer = plan.isShort === true ? decideShort(plans, plan, mask, key, mine) : decideLong(plans, plan, mask, mine);
    return answer === UNSURE ? decideInOrder(plans, plan, roles, mine) : answer;
}
const OBJECT = Object.prototype;
const { apartWord, begin, brokenWord, classesOf, decideInOrder, decideLong, decideShort, digest, frames, hasOnly, hold } = entry;
const { isDisturbed, isListOrMap, isObject, isPlain, laterWord, maskOf, NOTHING, operands, places, planFor } = entry;
const { NO_TOKENS, ownPath, PRINCIPAL_MEMBERS, RESOURCE_MEMBERS, testWord, tokensIn } = entry;
const { ARENA_START, BY_CLASS, DIGIT, FALSE, MISSING, NULL, NUMBER, ODD, STRINGS, TEMPORARY, TRUE, UNSURE, VALUE } = frames;
const { ACCESSOR, APART, BY_NAME, CLAIMS, DETAIL, FROM_PRINCIPAL, FROM_RESOURCE, HELD, LAST, OPERAND, PRINCIPAL_ID, PRINCIPAL_ROLES } = places;
const { RESOURCE_ID, RESOURCE_KIND, SLOT, SLOT_MASK, TESTED, TOKENS, USED, WHOLE } = places;
