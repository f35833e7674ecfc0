//! A thin layer over libclang: cursors, types and translation units as values with methods. All calls of
//! libclang are here; `parse*` and `types` interpret the results. The crate `clang` ends with clang 10, which knows no
//! operators.

use clang_sys::*;
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::os::raw::{c_int, c_uint, c_void};
use std::ptr;

/// Converts a libclang string to a Rust one, and frees it.
pub(super) fn owned_text(text: CXString) -> String {
    // SAFETY: `text` came from libclang and is disposed of exactly once, here.
    unsafe {
        let chars = clang_getCString(text);
        let owned = if chars.is_null() {
            String::new()
        } else {
            CStr::from_ptr(chars).to_string_lossy().into_owned()
        };
        clang_disposeString(text);
        owned
    }
}

/// A parsed translation unit, with the index that owns it.
pub(super) struct TranslationUnit {
    index: CXIndex,
    unit: CXTranslationUnit,
}

/// A compiler diagnostic.
pub(super) struct Diagnostic {
    pub is_error: bool,
    pub location: Location,
    pub message: String,
}

/// A position in a file; `offset` in bytes. `file` is empty for text from the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Location {
    pub file: String,
    pub offset: usize,
    pub line: u32,
    pub column: u32,
}

impl TranslationUnit {
    /// Parses a file; `None` if libclang cannot parse it at all.
    pub(super) fn parse(file: &str, arguments: &[String]) -> Option<Self> {
        let file = CString::new(file).ok()?;
        let arguments: Vec<CString> =
            arguments.iter().map(|a| CString::new(a.as_str())).collect::<Result<_, _>>().ok()?;
        let pointers: Vec<_> = arguments.iter().map(|a| a.as_ptr()).collect();
        let options = CXTranslationUnit_DetailedPreprocessingRecord
            | CXTranslationUnit_KeepGoing
            | CXTranslationUnit_IncludeAttributedTypes;
        // SAFETY: all pointers are valid for the calls, and both handles are owned by the value that is built.
        unsafe {
            let index = clang_createIndex(0, 0);
            let mut unit = ptr::null_mut();
            let code = clang_parseTranslationUnit2(
                index,
                file.as_ptr(),
                pointers.as_ptr(),
                c_int::try_from(pointers.len()).ok()?,
                ptr::null_mut(),
                0,
                options,
                &mut unit,
            );
            if code != CXError_Success || unit.is_null() {
                clang_disposeIndex(index);
                return None;
            }
            Some(Self { index, unit })
        }
    }

    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        // SAFETY: the unit is alive, every diagnostic is disposed of once.
        unsafe {
            (0..clang_getNumDiagnostics(self.unit))
                .map(|i| {
                    let diagnostic = clang_getDiagnostic(self.unit, i);
                    let found = Diagnostic {
                        is_error: clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error,
                        location: location(clang_getDiagnosticLocation(diagnostic)),
                        message: owned_text(clang_getDiagnosticSpelling(diagnostic)),
                    };
                    clang_disposeDiagnostic(diagnostic);
                    found
                })
                .collect()
        }
    }

    /// Every file that was read, including the source itself.
    pub(super) fn files(&self) -> Vec<String> {
        extern "C" fn push(file: CXFile, _: *mut CXSourceLocation, _: c_uint, data: CXClientData) {
            // SAFETY: `data` is the vector below, which outlives the visit; the file is alive with its unit.
            unsafe { (*data.cast::<Vec<String>>()).push(owned_text(clang_getFileName(file))) };
        }
        let mut found: Vec<String> = Vec::new();
        // SAFETY: the unit is alive, and the visitor only touches the vector that is passed to it.
        unsafe { clang_getInclusions(self.unit, push, ptr::from_mut(&mut found).cast::<c_void>()) };
        found
    }

    /// The real path of the file that was parsed.
    pub(super) fn real_path(&self) -> String {
        // SAFETY: the unit is alive; its spelling is the name of a file that it has.
        unsafe {
            let name =
                CString::new(owned_text(clang_getTranslationUnitSpelling(self.unit))).unwrap_or_default();
            owned_text(clang_File_tryGetRealPathName(clang_getFile(self.unit, name.as_ptr())))
        }
    }

    /// The top-level declarations, macro definitions and macro expansions.
    pub(super) fn items(&self) -> Vec<Cursor<'_>> {
        // SAFETY: the unit is alive.
        Cursor::new(unsafe { clang_getTranslationUnitCursor(self.unit) }).children()
    }
}

impl Drop for TranslationUnit {
    fn drop(&mut self) {
        // SAFETY: both were created by `parse`; cursors and types cannot outlive `self`.
        unsafe {
            clang_disposeTranslationUnit(self.unit);
            clang_disposeIndex(self.index);
        }
    }
}

fn location(at: CXSourceLocation) -> Location {
    located(at, clang_getFileLocation)
}

/// Where the outermost macro is, for a location in an expansion.
fn expansion(at: CXSourceLocation) -> Location {
    located(at, clang_getExpansionLocation)
}

/// A function of libclang that tells file, line, column and offset.
type Locates = unsafe fn(CXSourceLocation, *mut CXFile, *mut c_uint, *mut c_uint, *mut c_uint);

fn located(at: CXSourceLocation, locates: Locates) -> Location {
    let (mut file, mut line, mut column, mut offset) = (ptr::null_mut(), 0, 0, 0);
    // SAFETY: the out-pointers are valid; libclang accepts a null file.
    unsafe {
        locates(at, &mut file, &mut line, &mut column, &mut offset);
        let name = if file.is_null() {
            String::new()
        } else {
            let real = owned_text(clang_File_tryGetRealPathName(file));
            if real.is_empty() { owned_text(clang_getFileName(file)) } else { real }
        };
        Location { file: name, offset: offset as usize, line, column }
    }
}

/// Whether a location is in a macro expansion: then its text is elsewhere than the code.
///
/// # Safety
/// The unit of the location is alive.
unsafe fn is_expanded(at: CXSourceLocation) -> bool {
    let offset = |ask: Locates| {
        let (mut file, mut line, mut column, mut offset) = (ptr::null_mut(), 0, 0, 0);
        // SAFETY: the out-pointers are valid.
        unsafe { ask(at, &mut file, &mut line, &mut column, &mut offset) };
        (file, offset)
    };
    offset(clang_getExpansionLocation) != offset(clang_getSpellingLocation)
}

/// A node of the syntax tree.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'tu> {
    raw: CXCursor,
    unit: PhantomData<&'tu TranslationUnit>,
}

impl PartialEq for Cursor<'_> {
    fn eq(&self, other: &Self) -> bool {
        // SAFETY: both cursors belong to live units.
        unsafe { clang_equalCursors(self.raw, other.raw) != 0 }
    }
}

/// Generates methods that call libclang with the cursor or type, and convert the result.
macro_rules! ask {
    ($($(#[$doc:meta])* $name:ident -> $ret:ty = $raw:ident => $convert:expr;)+) => {$(
        $(#[$doc])*
        pub(super) fn $name(self) -> $ret {
            // SAFETY: the handle belongs to a unit that `'tu` keeps alive.
            let answer = unsafe { $raw(self.raw) };
            ($convert)(answer)
        }
    )+};
}

impl<'tu> Cursor<'tu> {
    fn new(raw: CXCursor) -> Self {
        Self { raw, unit: PhantomData }
    }

    /// `None` for libclang's null and invalid cursors.
    fn real(raw: CXCursor) -> Option<Self> {
        // SAFETY: reading the kind is allowed for any cursor.
        let null = unsafe { clang_Cursor_isNull(raw) != 0 || clang_isInvalid(clang_getCursorKind(raw)) != 0 };
        (!null).then(|| Self::new(raw))
    }

    ask! {
        kind -> CXCursorKind = clang_getCursorKind => |k| k;
        name -> String = clang_getCursorSpelling => owned_text;
        usr -> String = clang_getCursorUSR => owned_text;
        /// The name of its symbol.
        mangling -> String = clang_Cursor_getMangling => owned_text;
        ty -> Type<'tu> = clang_getCursorType => Type::new;
        result_type -> Type<'tu> = clang_getCursorResultType => Type::new;
        /// The type that a typedef names.
        underlying -> Type<'tu> = clang_getTypedefDeclUnderlyingType => Type::new;
        enum_integer -> Type<'tu> = clang_getEnumDeclIntegerType => Type::new;
        enum_value -> i64 = clang_getEnumConstantDeclValue => |v| v;
        enum_value_unsigned -> u64 = clang_getEnumConstantDeclUnsignedValue => |v| v;
        storage -> CX_StorageClass = clang_Cursor_getStorageClass => |s| s;
        linkage -> CXLinkageKind = clang_getCursorLinkage => |l| l;
        is_definition -> bool = clang_isCursorDefinition => |v| v != 0;
        is_inline -> bool = clang_Cursor_isFunctionInlined => |v| v != 0;
        is_anonymous -> bool = clang_Cursor_isAnonymous => |v| v != 0;
        is_builtin_macro -> bool = clang_Cursor_isMacroBuiltin => |v| v != 0;
        is_function_like_macro -> bool = clang_Cursor_isMacroFunctionLike => |v| v != 0;
        is_thread_local -> bool = clang_getCursorTLSKind => |v| v != CXTLS_None;
        /// The width of a bit-field; -1 for other fields.
        bit_width -> c_int = clang_getFieldDeclBitWidth => |v| v;
        /// Bits from the start of the record to the field; negative if unknown.
        offset -> i64 = clang_Cursor_getOffsetOfField => |v| v;
        binary_operator -> CXBinaryOperatorKind = clang_getCursorBinaryOperatorKind => |v| v;
        unary_operator -> CXUnaryOperatorKind = clang_getCursorUnaryOperatorKind => |v| v;
        comment -> String = clang_Cursor_getRawCommentText => owned_text;
        definition -> Option<Self> = clang_getCursorDefinition => Self::real;
        referenced -> Option<Self> = clang_getCursorReferenced => Self::real;
    }

    pub(super) fn is_expression(self) -> bool {
        // SAFETY: only examines a number.
        unsafe { clang_isExpression(self.kind()) != 0 }
    }

    /// The operator as written.
    pub(super) fn operator_text(self) -> String {
        // SAFETY: the operator kind comes from the same library.
        owned_text(unsafe { clang_getBinaryOperatorKindSpelling(self.binary_operator()) })
    }

    pub(super) fn start(self) -> Location {
        // SAFETY: the cursor's unit is alive.
        unsafe {
            let range = clang_getCursorExtent(self.raw);
            let (start, end) = (clang_getRangeStart(range), clang_getRangeEnd(range));
            // `API(int) f(void) { ... }` begins with the macro, not with its argument.
            if is_expanded(start) && !is_expanded(end) { expansion(start) } else { location(start) }
        }
    }

    /// Where it begins in the code: where the outermost macro is used, if it begins in one.
    pub(super) fn start_in_code(self) -> Location {
        // SAFETY: the cursor's unit is alive.
        expansion(unsafe { clang_getRangeStart(clang_getCursorExtent(self.raw)) })
    }

    pub(super) fn end(self) -> Location {
        // SAFETY: the cursor's unit is alive.
        location(unsafe { clang_getRangeEnd(clang_getCursorExtent(self.raw)) })
    }

    /// The file that an `#include` names, by its real path.
    pub(super) fn included_file(self) -> String {
        // SAFETY: the cursor's unit is alive; libclang accepts a null file.
        owned_text(unsafe { clang_File_tryGetRealPathName(clang_getIncludedFile(self.raw)) })
    }

    /// The position of its name.
    pub(super) fn at(self) -> Location {
        // SAFETY: the cursor's unit is alive.
        location(unsafe { clang_getCursorLocation(self.raw) })
    }

    /// Whether one of its ends is in a macro or in a macro argument.
    pub(super) fn is_in_macro(self) -> bool {
        // SAFETY: the cursor's unit is alive.
        let range = unsafe { clang_getCursorExtent(self.raw) };
        // SAFETY: as above.
        unsafe { is_expanded(clang_getRangeStart(range)) || is_expanded(clang_getRangeEnd(range)) }
    }

    pub(super) fn children(self) -> Vec<Self> {
        extern "C" fn push(child: CXCursor, _: CXCursor, data: CXClientData) -> CXChildVisitResult {
            // SAFETY: `data` is the vector below, which outlives the visit and is used by nothing else meanwhile.
            unsafe { (*data.cast::<Vec<CXCursor>>()).push(child) };
            CXChildVisit_Continue
        }
        let mut found: Vec<CXCursor> = Vec::new();
        // SAFETY: the visitor only touches the vector that is passed to it.
        unsafe { clang_visitChildren(self.raw, push, ptr::from_mut(&mut found).cast::<c_void>()) };
        found.into_iter().map(Self::new).collect()
    }

    /// The parameters of a function, or the arguments of a call.
    pub(super) fn arguments(self) -> Vec<Self> {
        // SAFETY: the positions stay below the count.
        unsafe {
            let count = u32::try_from(clang_Cursor_getNumArguments(self.raw)).unwrap_or(0);
            (0..count).map(|i| Self::new(clang_Cursor_getArgument(self.raw, i))).collect()
        }
    }

    /// The value of a constant integer expression.
    pub(super) fn evaluate(self) -> Option<i64> {
        // SAFETY: the result is checked for null and disposed of once.
        unsafe {
            let result = clang_Cursor_Evaluate(self.raw);
            if result.is_null() {
                return None;
            }
            let value = (clang_EvalResult_getKind(result) == CXEval_Int)
                .then(|| clang_EvalResult_getAsLongLong(result));
            clang_EvalResult_dispose(result);
            value
        }
    }
}

/// A C type.
#[derive(Clone, Copy)]
pub(super) struct Type<'tu> {
    raw: CXType,
    unit: PhantomData<&'tu TranslationUnit>,
}

impl<'tu> Type<'tu> {
    fn new(raw: CXType) -> Self {
        Self { raw, unit: PhantomData }
    }

    ask! {
        spelling -> String = clang_getTypeSpelling => owned_text;
        canonical -> Self = clang_getCanonicalType => Self::new;
        pointee -> Self = clang_getPointeeType => Self::new;
        element -> Self = clang_getArrayElementType => Self::new;
        /// Number of elements; negative if it is not fixed.
        extent -> i64 = clang_getArraySize => |v| v;
        result -> Self = clang_getResultType => Self::new;
        is_const -> bool = clang_isConstQualifiedType => |v| v != 0;
        is_volatile -> bool = clang_isVolatileQualifiedType => |v| v != 0;
        is_variadic -> bool = clang_isFunctionTypeVariadic => |v| v != 0;
        /// Size in bytes; negative for incomplete types.
        size -> i64 = clang_Type_getSizeOf => |v| v;
        /// Alignment in bytes; negative for incomplete types.
        align -> i64 = clang_Type_getAlignOf => |v| v;
        declaration -> Option<Cursor<'tu>> = clang_getTypeDeclaration => Cursor::real;
        named -> Self = clang_Type_getNamedType => Self::new;
        modified -> Self = clang_Type_getModifiedType => Self::new;
    }

    pub(super) fn kind(self) -> CXTypeKind {
        self.raw.kind
    }

    pub(super) fn parameters(self) -> Vec<Self> {
        // SAFETY: the positions stay below the count.
        unsafe {
            let count = u32::try_from(clang_getNumArgTypes(self.raw)).unwrap_or(0);
            (0..count).map(|i| Self::new(clang_getArgType(self.raw, i))).collect()
        }
    }

    /// The fields of a record, in order.
    pub(super) fn fields(self) -> Vec<Cursor<'tu>> {
        extern "C" fn push(field: CXCursor, data: CXClientData) -> CXVisitorResult {
            // SAFETY: as in `Cursor::children`.
            unsafe { (*data.cast::<Vec<CXCursor>>()).push(field) };
            CXVisit_Continue
        }
        let mut found: Vec<CXCursor> = Vec::new();
        // SAFETY: the visitor only touches the vector that is passed to it.
        unsafe { clang_Type_visitFields(self.raw, push, ptr::from_mut(&mut found).cast::<c_void>()) };
        found.into_iter().map(Cursor::new).collect()
    }
}
