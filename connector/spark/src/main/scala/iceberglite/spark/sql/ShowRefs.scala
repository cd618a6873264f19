package iceberglite.spark.sql

import java.time.Instant

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.catalyst.util.StringUtils
import org.apache.spark.sql.types.{IntegerType, LongType, StringType, StructField, StructType, TimestampType}

import iceberglite.spark.procedure.{Procedure, ProcedureContext, ResultRow}
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}
import iceberglite.table.SnapshotTarget

/**
 * `SHOW BRANCHES [FROM | IN] t [[LIKE] 'pattern']`, and the same statement for TAGS: returns the branches or tags of a
 * table in the order of their names.
 *
 * @param pattern a pattern as in `SHOW TABLES`: `*` matches any text, and `|` separates alternatives
 */
final case class ShowRefs(child: LogicalPlan, kind: RefKind, pattern: Option[String])
    extends ExistingTableCommand
    with UnaryLike[LogicalPlan] {

  override val output: Seq[Attribute] = ExistingTableCommand.attributes(ShowRefs.columns(kind))

  override protected def table: LogicalPlan = child
  override protected def statement: String = ShowRefs.nameOf(kind)

  override protected def run(name: String, branch: SnapshotTarget.Branch, context: ProcedureContext): Seq[Row] = {
    val metadata = context.table(name).current.metadata
    val refs = metadata.refs.toSeq.filter { case (_, ref) => RefKind.of(ref) == kind }.sortBy(_._1)
    val names = refs.map(_._1)
    val shown = pattern.fold(names)(StringUtils.filterPattern(names, _)).toSet
    refs.collect { case (refName, ref) if shown(refName) => ShowRefs.row(metadata, refName, ref) }
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): ShowRefs = copy(child = newChild)
}

object ShowRefs {
  private val columnsOfAll: Seq[StructField] = Seq(
    Procedure.column("name", StringType, "Name of the branch or tag"),
    Procedure.column("snapshot_id", LongType, "Id of the snapshot; for a branch, of its newest snapshot"),
    Procedure.column("committed_at", TimestampType, "Time of the commit of the snapshot", nullable = true),
    Procedure.column(
      "max_reference_age_in_ms",
      LongType,
      "Age of the snapshot after which snapshot expiration removes the branch or tag; null for the table's default",
      nullable = true
    )
  )

  private val columnsOfBranches: Seq[StructField] = Seq(
    Procedure.column(
      "min_snapshots_to_keep",
      IntegerType,
      "Minimum number of snapshots of the branch that snapshot expiration keeps; null for the table's default",
      nullable = true
    ),
    Procedure.column(
      "max_snapshot_age_in_ms",
      LongType,
      "Age after which snapshot expiration removes snapshots of the branch; null for the table's default",
      nullable = true
    )
  )

  private def columns(kind: RefKind): StructType = StructType(kind match {
    case RefKind.Branch => columnsOfAll ++ columnsOfBranches
    case RefKind.Tag => columnsOfAll
  })

  private def nameOf(kind: RefKind): String = s"SHOW ${kind.plural}"

  private def row(metadata: TableMetadata, name: String, ref: SnapshotRef): Row = {
    val committedAt = metadata.snapshotsById.get(ref.snapshotId).map(s => Instant.ofEpochMilli(s.timestampMs))
    val retention = ref match {
      case branch: SnapshotRef.Branch => Seq(branch.minSnapshotsToKeep, branch.maxSnapshotAgeMs)
      case _: SnapshotRef.Tag => Nil
    }
    ResultRow(Seq(name, ref.snapshotId, committedAt, ref.maxRefAgeMs) ++ retention: _*)
  }

  /** The statement for one kind of reference. */
  final class Statement(kind: RefKind) extends TableStatement {
    override val name: String = nameOf(kind)

    override def begin(reader: SqlReader): Boolean = {
      val begins = reader.skip("SHOW", kind.plural)
      if (begins && !reader.skip("FROM")) reader.skip("IN")
      begins
    }

    override def parse(table: LogicalPlan, reader: SqlReader, expressions: SqlExpressions): LogicalPlan = {
      val hasLike = reader.skip("LIKE")
      val pattern = reader.textIfAny()
      if (hasLike && pattern.isEmpty) reader.fail("expected a pattern in quotes, such as 'release*'")
      ShowRefs(table, kind, pattern)
    }
  }
}
