//! `cargo implfuzz stats`

use crate::cli::session::Session;
use crate::cli::tables::cells;
use crate::cli::tables::symbol_tables;
use crate::error::{ExitCode, Result};
use crate::report::{Table, printable};
use crate::store::stats::{Group, Middle, PUBLISHED_TOKENS, Passes, Records, Stats};
use crate::store::{RunId, Totals};
use serde_json::{Map, Value, json};

/// Show the cost and success of model calls by function, role, model, phase and workflow
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Count only calls for these functions
    #[arg(value_name = "SYMBOL")]
    symbols: Vec<String>,
    /// Count only calls of this run
    #[arg(long, value_name = "N")]
    run: Option<i64>,
    /// Compare workflows: calls, pass rate, time and cost per function
    #[arg(long)]
    compare_workflows: bool,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let (project, store) = session.look()?;
    let wanted = args.symbols.iter().map(|name| Ok(project.find(name)?.function.key.clone()));
    let wanted: Vec<_> = wanted.collect::<Result<_>>()?;
    let stats = Stats::of(&Records::read(&store, args.run.map(RunId), &wanted)?);
    if args.compare_workflows {
        session.screen.result("workflows", &json!({ "workflows": compared(&stats) }), || comparison(&stats));
    } else {
        session.screen.result("stats", &value(&stats, args.run), || text(&stats));
    }
    Ok(ExitCode::Ok)
}

fn text(stats: &Stats) -> String {
    if stats.total.passes.begun() == 0 && stats.total.spent.calls == 0 {
        return "no model was asked yet\n".into();
    }
    let mut lines: Vec<(String, Option<&Group>)> = Vec::new();
    for (heading, groups) in kinds(stats) {
        lines.push((format!("by {heading}"), None));
        let name = |group: &Group| format!("  {}", printable(group.name.as_deref().unwrap_or("not kept")));
        lines.extend(groups.iter().map(|group| (name(group), Some(group))));
    }
    lines.push(("in total".into(), Some(&stats.total)));
    let of = |line: &(String, Option<&Group>), cell: &dyn Fn(&Group) -> String| {
        line.1.map(cell).unwrap_or_default()
    };
    let tokens = |group: &Group, count: u64| cells::tokens(count, group.spent.estimated);
    let cost = |spent: &Totals| if spent.calls == 0 { "-".into() } else { symbol_tables::cost(spent) };
    let stops = |spent: &Totals| {
        spent.stops.iter().map(|(why, count)| format!("{why} {count}")).collect::<Vec<_>>().join(", ")
    };
    let table = Table::of(lines)
        .left("", |(name, _)| name.clone())
        .left("passed", |line| of(line, &|g| passed(g.passes)))
        .right("calls", |line| of(line, &|g| g.spent.calls.to_string()))
        .right("failed", |line| of(line, &|g| g.spent.failed.to_string()))
        .right("tokens in", |line| of(line, &|g| tokens(g, g.spent.input_tokens)))
        .right("out", |line| of(line, &|g| tokens(g, g.spent.output_tokens)))
        .right("cached", |line| of(line, &|g| tokens(g, g.spent.cached_tokens)))
        .right("cost", |line| of(line, &|g| cost(&g.spent)))
        .right("waited", |line| of(line, &|g| cells::seconds(g.spent.latency_ms)))
        .right("median", |line| of(line, &|g| cells::known(g.spent.median_ms, cells::seconds)))
        .left("stops", |line| of(line, &|g| stops(&g.spent)));
    format!("{}\n{}", table.text(), medians(stats))
}

/// The groupings of the same calls.
fn kinds(stats: &Stats) -> [(&'static str, &[Group]); 5] {
    [
        ("symbol", &stats.symbols),
        ("role", &stats.roles),
        ("maker", &stats.makers),
        ("phase", &stats.phases),
        ("workflow", &stats.workflows),
    ]
}

fn passed(passes: Passes) -> String {
    let rate =
        passes.rate().map(|rate| format!("{} of {}, {:.0} %", passes.passed, passes.attempted, rate * 100.0));
    let interrupted = (passes.interrupted > 0).then(|| format!("{} interrupted", passes.interrupted));
    let parts: Vec<String> = rate.into_iter().chain(interrupted).collect();
    if parts.is_empty() { "-".into() } else { parts.join("; ") }
}

fn medians(stats: &Stats) -> String {
    let told = |middle: Option<Middle>, what: &str| match middle {
        Some(m) => format!("{} tokens (median of {} {what})", cells::tokens(m.tokens, m.estimated), m.over),
        None => "unknown: no call was answered".into(),
    };
    let (low, high) = PUBLISHED_TOKENS;
    let estimated = if stats.total.spent.estimated {
        "~ marks numbers that include estimates, where the provider reported no count\n"
    } else {
        ""
    };
    let again = match stats.total.spent.retries {
        0 => String::new(),
        n => format!("repeated requests: {n}; their time is included in `waited`\n"),
    };
    format!(
        "a trial, one function in one run: {}; published for a similar design: {low} to {high}\nfirst prompt: {}\n{again}{estimated}",
        told(stats.trial, "trials"),
        told(stats.first_prompt, "functions"),
    )
}

fn value(stats: &Stats, run: Option<i64>) -> Value {
    let middle = |middle: Option<Middle>| {
        middle.map(|m| json!({ "tokens": m.tokens, "over": m.over, "estimated": m.estimated }))
    };
    let list = |kind: &str, groups: &[Group]| -> Vec<Value> {
        groups.iter().map(|group| group_json(Some(kind), group)).collect()
    };
    let mut value = Map::new();
    value.insert("run".into(), run.into());
    for (kind, groups) in kinds(stats) {
        value.insert(format!("{kind}s"), list(kind, groups).into());
    }
    value.insert("total".into(), group_json(None, &stats.total));
    value.insert("trial".into(), middle(stats.trial).into());
    value.insert("first_prompt".into(), middle(stats.first_prompt).into());
    value.insert("published_trial_tokens".into(), json!([PUBLISHED_TOKENS.0, PUBLISHED_TOKENS.1]));
    value.into()
}

/// A group with its name in the field `kind`.
fn group_json(kind: Option<&str>, group: &Group) -> Value {
    let mut value = Map::new();
    if let Some(kind) = kind {
        value.insert(kind.into(), group.name.clone().into());
    }
    let Passes { passed, attempted, interrupted } = group.passes;
    value.insert("passed".into(), passed.into());
    value.insert("attempted".into(), attempted.into());
    value.insert("interrupted".into(), interrupted.into());
    value.insert("millis".into(), group.millis.into());
    if let Value::Object(spent) = symbol_tables::spent_json(&group.spent) {
        value.extend(spent);
    }
    value.into()
}

/// Each workflow with its means.
fn compared(stats: &Stats) -> Vec<Value> {
    let one = |group: &Group| {
        let means = group.per_symbol();
        json!({
            "workflow": group.name, "attempted": group.passes.attempted, "passed": group.passes.passed,
            "interrupted": group.passes.interrupted,
            "calls_per_symbol": means.map(|m| m.calls), "tokens_per_symbol": means.map(|m| m.tokens),
            "estimated": group.spent.estimated, "millis_per_symbol": means.and_then(|m| m.millis),
            "cost_per_symbol": means.and_then(|m| m.cost),
        })
    };
    stats.workflows.iter().map(one).collect()
}

fn comparison(stats: &Stats) -> String {
    if stats.workflows.is_empty() {
        return "no model was asked yet\n".into();
    }
    let lines = [
        "symbols, each once a run", "pass rate", "model calls per symbol", "tokens per symbol",
        "time per symbol", "cost per symbol",
    ];
    let table = Table::of(0..lines.len()).left("", |line| lines[*line].to_owned());
    let table = stats.workflows.iter().fold(table, |table, group| {
        let cells = cells(group);
        table.right(group.name.as_deref().unwrap_or("not kept"), |line| cells[*line].clone())
    });
    let alone = match &stats.workflows[..] {
        [_] => "\nonly one workflow has run so far: there is nothing to compare it with\n",
        _ => "",
    };
    format!("{}{alone}", table.text())
}

/// The cells of a workflow in [`comparison`], line by line.
fn cells(group: &Group) -> [String; 6] {
    let means = group.per_symbol();
    let told = |text: Option<String>, otherwise: &str| text.unwrap_or_else(|| otherwise.into());
    let mark = if group.spent.estimated { "~" } else { "" };
    [
        group.passes.begun().to_string(),
        passed(group.passes),
        told(means.map(|m| format!("{:.1}", m.calls)), "-"),
        told(means.map(|m| format!("{mark}{:.0}", m.tokens)), "-"),
        told(means.and_then(|m| m.millis).map(|ms| format!("{:.1} s", ms / 1e3)), "-"),
        told(means.and_then(|m| m.cost).map(|cost| format!("{cost:.4}")), "unknown"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::stats::tests::records;

    #[test]
    fn people_get_a_table() {
        insta::assert_snapshot!(text(&Stats::of(&records())), @r"
                        passed         calls  failed  tokens in  out  cached             cost  waited  median  stops
        by symbol
          a             1 of 2, 50 %       3       0       1300   30       0           0.7500   1.3 s   0.3 s  end 3
          b             0 of 1, 0 %        1       0        200   10       0           0.2500   0.2 s   0.2 s  end 1
          c             0 of 1, 0 %        1       1          0    0       0          unknown   0.0 s       -  failed 1
        by role
          c2rust        0 of 1, 0 %        0       0          0    0       0                -   0.0 s       -
          enhancer      1 of 1, 100 %      1       0        300   10       0           0.2500   0.3 s   0.3 s  end 1
          prototyper    0 of 3, 0 %        4       1       1200   30       0  at least 0.7500   1.2 s   0.2 s  end 3, failed 1
        by maker
          not kept      0 of 1, 0 %        0       0          0    0       0                -   0.0 s       -
          c2rust        0 of 1, 0 %        0       0          0    0       0                -   0.0 s       -
          cheap         0 of 2, 0 %        4       1       1200   30       0  at least 0.7500   1.2 s   0.2 s  end 3, failed 1
          strong        1 of 1, 100 %      1       0        300   10       0           0.2500   0.3 s   0.3 s  end 1
        by phase
          compilation   1 of 3, 33 %       3       1        300   20       0  at least 0.5000   0.3 s   0.1 s  end 2, failed 1
          optimization  1 of 1, 100 %      1       0        300   10       0           0.2500   0.3 s   0.3 s  end 1
          not kept      0 of 1, 0 %        1       0        900   10       0           0.2500   0.9 s   0.9 s  end 1
        by workflow
          three-step    0 of 1, 0 %        1       1          0    0       0          unknown   0.0 s       -  failed 1
          unified       1 of 3, 33 %       4       0       1500   40       0           1.0000   1.5 s   0.2 s  end 4
        in total        1 of 4, 25 %       5       1       1500   40       0  at least 1.0000   1.5 s   0.2 s  end 4, failed 1

        a trial, one function in one run: 420 tokens (median of 3 trials); published for a similar design: 20000 to 55000
        first prompt: 150 tokens (median of 2 functions)
        repeated requests: 1; their time is included in `waited`
        ");
        assert_eq!(text(&Stats::of(&Records::default())), "no model was asked yet\n");
    }

    #[test]
    fn workflows_stand_side_by_side() {
        let mut records = records();
        insta::assert_snapshot!(comparison(&Stats::of(&records)), @r"
                                   three-step       unified
        symbols, each once a run            1             3
        pass rate                 0 of 1, 0 %  1 of 3, 33 %
        model calls per symbol            1.0           1.3
        tokens per symbol                   0           513
        time per symbol                 0.0 s         0.3 s
        cost per symbol               unknown        0.3333
        ");
        records.interrupted.insert(RunId(3));
        assert!(comparison(&Stats::of(&records)).contains("1 interrupted  1 of 3, 33 %"));
        records.workflows.clear();
        assert!(comparison(&Stats::of(&records)).contains("only one workflow"));
    }
}
