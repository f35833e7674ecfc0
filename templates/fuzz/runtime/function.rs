//! The generated code of one function without its types. Only what runs for every input knows the types; all else is
//! compiled once for all functions.
//! Written by cargo-implfuzz.

use super::codec::{Reader, Writer};
use super::driver::{self, Case, Judged};
use super::guard::Broke;
use super::plain::Plain;
use super::record::Record;
use super::report::Parts;
use super::stretch::{self, Extent};
use std::any::Any;
use std::ffi::c_void;
use std::marker::PhantomData;

/// A [`Case`] with its types erased. Arguments and effects must come from the methods of the same function.
pub trait Function: Sync {
    /// Runs an input on both sides. The caller has chosen `errno`.
    fn judge(&self, input: &[u8]) -> Judged;
    /// The arguments of an input, with the lengths of its tail.
    fn args(&self, input: &[u8]) -> Box<dyn Any>;
    /// The arguments of an input that has no tail.
    fn decode(&self, input: &[u8]) -> Box<dyn Any>;
    fn encode(&self, args: &dyn Any) -> Vec<u8>;
    fn show(&self, args: &dyn Any) -> Parts;
    fn plain(&self, args: &dyn Any) -> Plain;
    fn of_plain(&self, plain: &Plain) -> Result<Box<dyn Any>, String>;
    /// Boundary inputs, encoded.
    fn boundaries(&self) -> Vec<Vec<u8>>;
    fn extents(&self) -> &'static [Extent];
    fn admits(&self, args: &dyn Any) -> bool;
    /// Calls the C original.
    fn original(&self, args: &dyn Any) -> Result<Box<dyn Any>, Broke>;
    /// Calls a mutant of the C original.
    fn mutant(&self, args: &dyn Any, mutant: *const c_void) -> Result<Box<dyn Any>, Broke>;
    /// Calls the port.
    fn subject(&self, args: &dyn Any) -> Result<Box<dyn Any>, String>;
    fn differs(&self, oracle: &dyn Any, subject: &dyn Any) -> Option<String>;
    fn effects(&self, effects: &dyn Any) -> Parts;
    fn given(&self, args: &dyn Any, effects: &dyn Any) -> Plain;
    fn left(&self, effects: &dyn Any) -> Plain;
    fn record(&self, effects: &dyn Any) -> Record;
}

/// The [`Function`] of a [`Case`].
pub(super) struct Of<C>(PhantomData<fn() -> C>);

impl<C: Case> Of<C> {
    pub(super) const FUNCTION: &'static dyn Function = &Self(PhantomData);
}

fn known<T: 'static>(value: &dyn Any) -> &T {
    value.downcast_ref().expect("the value of another function")
}

fn erased<T: 'static>(value: T) -> Box<dyn Any> {
    Box::new(value)
}

impl<C: Case> Function for Of<C> {
    fn judge(&self, input: &[u8]) -> Judged {
        driver::judge_args::<C>(&stretch::args::<C>(input), &|| input.to_vec())
    }

    fn args(&self, input: &[u8]) -> Box<dyn Any> {
        erased(stretch::args::<C>(input))
    }

    fn decode(&self, input: &[u8]) -> Box<dyn Any> {
        erased(C::decode(&mut Reader::new(input)))
    }

    fn encode(&self, args: &dyn Any) -> Vec<u8> {
        encoded::<C>(known(args))
    }

    fn show(&self, args: &dyn Any) -> Parts {
        C::show(known(args))
    }

    fn plain(&self, args: &dyn Any) -> Plain {
        C::plain(known(args))
    }

    fn of_plain(&self, plain: &Plain) -> Result<Box<dyn Any>, String> {
        C::of_plain(plain).map(erased)
    }

    fn boundaries(&self) -> Vec<Vec<u8>> {
        C::boundaries().iter().map(encoded::<C>).collect()
    }

    fn extents(&self) -> &'static [Extent] {
        C::extents()
    }

    fn admits(&self, args: &dyn Any) -> bool {
        C::admits(known(args))
    }

    fn original(&self, args: &dyn Any) -> Result<Box<dyn Any>, Broke> {
        self.mutant(args, C::original())
    }

    fn mutant(&self, args: &dyn Any, mutant: *const c_void) -> Result<Box<dyn Any>, Broke> {
        C::oracle(known(args), mutant).map(erased)
    }

    fn subject(&self, args: &dyn Any) -> Result<Box<dyn Any>, String> {
        C::subject(known(args)).map(erased)
    }

    fn differs(&self, oracle: &dyn Any, subject: &dyn Any) -> Option<String> {
        C::differs(known(oracle), known(subject))
    }

    fn effects(&self, effects: &dyn Any) -> Parts {
        C::effects(known(effects))
    }

    fn given(&self, args: &dyn Any, effects: &dyn Any) -> Plain {
        C::given(known(args), known(effects))
    }

    fn left(&self, effects: &dyn Any) -> Plain {
        C::left(known(effects))
    }

    fn record(&self, effects: &dyn Any) -> Record {
        C::record(known(effects))
    }
}

/// The input of these arguments.
pub(super) fn encoded<C: Case>(args: &C::Args) -> Vec<u8> {
    let mut writer = Writer::default();
    C::encode(args, &mut writer);
    writer.bytes
}
