package iceberglite.table.action

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec._
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue, In, IsNan, IsNull}
import iceberglite.spec.expr.{ManifestEvaluator, Term}
import iceberglite.table.{CommitContext, Concern}
import iceberglite.tree.{FileSelector, PartitionSources, WrittenTree}

/**
 * Takes files out of a snapshot. The deletes that then speak of nothing go by themselves: the tree sees to it.
 *
 * @param concern finds the manifests that may list such files
 * @param removesData whether a data file goes
 * @param removesDeletes whether a delete file goes, whatever data files do
 */
final private[action] class Removal(
    concern: Concern,
    removesData: ManifestEntry => Boolean,
    removesDeletes: ManifestEntry => Boolean
) extends FileSelector {

  override def mightMatch(manifest: ManifestFile): Boolean = manifest.hasLiveFiles && concern.mightMatch(manifest)

  override def removes(entry: ManifestEntry): Boolean =
    if (entry.file.content == Content.Data) removesData(entry) else removesDeletes(entry)
}

private[action] object Removal {

  /** Spec, "Snapshots": what a snapshot that may add and may remove is called. */
  def operation(tree: WrittenTree): Operation =
    if (tree.removed.isEmpty && tree.added.forall(_.content == Content.Data)) Operation.Append
    else if (tree.added.isEmpty) Operation.Delete
    else Operation.Overwrite

  /**
   * The files all of whose rows match.
   *
   * @param verb of messages: `delete`
   */
  def matching(rows: RowFilter, verb: String, context: CommitContext): FileSelector = {
    def removesData(entry: ManifestEntry): Boolean = rows.matches(entry) match {
      case Match.All => true
      case Match.None => false
      case Match.Some => throw ValidationFailed(
          s"Cannot $verb rows of ${context.table} ${rows.description}: file ${entry.file.path} may also have rows " +
            "that do not match. Row-level deletes are not supported yet; use a condition that whole files satisfy, " +
            "such as one on the columns that the table is partitioned by"
        )
    }
    new Removal(rows, removesData, rows.matches(_) == Match.All)
  }

  /** The files of certain partitions. */
  def of(partitions: Partitions): FileSelector = new Removal(partitions, partitions.mightMatch, partitions.mightMatch)
}

/** The partitions of some files; a spec without partitions stands for the whole table. */
final private[action] class Partitions(files: Vector[ContentFile], base: TableMetadata) extends Concern {
  private val sources = PartitionSources.schema(base, base.schema)
  private val tuples: Map[Int, Set[PartitionTuple]] = files.groupBy(_.specId).map { case (id, fs) =>
    id -> fs.map(_.partition).toSet
  }
  private val all = tuples.keys.exists(id => !base.specsById(id).isPartitioned)
  private val evaluators: Map[Int, ManifestEvaluator] = tuples.map { case (id, wanted) =>
    val spec = base.specsById(id)
    val fields = spec.partitionType(sources).fields
    val condition = fields.indices.map(i => among(fields(i), wanted.map(_.values(i))))
    val all = condition.foldLeft[Expression](AlwaysTrue)(Expression.and)
    id -> new ManifestEvaluator(all, spec, spec.partitionType(sources))
  }

  /** Each field by itself: that is no tighter than need be, but quick for thousands of partitions. */
  private def among(field: NestedField, values: Set[Option[Literal]]): Expression = {
    val term = Term.Bound(field, field.name)
    val (nan, ordinary) = values.flatten.partition(isNan)
    val parts = Vector(
      if (ordinary.nonEmpty) In(term, ordinary) else AlwaysFalse,
      if (nan.nonEmpty) IsNan(term) else AlwaysFalse,
      if (values.contains(None)) IsNull(term) else AlwaysFalse
    )
    parts.foldLeft[Expression](AlwaysFalse)(Expression.or)
  }

  private def isNan(value: Literal): Boolean = value match {
    case Literal.FloatLiteral(v) => v.isNaN
    case Literal.DoubleLiteral(v) => v.isNaN
    case _ => false
  }

  override def mightMatch(manifest: ManifestFile): Boolean =
    manifest.hasLiveFiles && (all || evaluators.get(manifest.partitionSpecId).exists(_.mightMatch(manifest)))

  override def mightMatch(entry: ManifestEntry): Boolean =
    all || tuples.get(entry.file.specId).exists(_.contains(entry.file.partition))

  override def description: String = "in the partitions that are replaced"
}
