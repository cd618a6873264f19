package iceberglite.table.action

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec._
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue, In, IsNan, IsNull}
import iceberglite.spec.expr.{ManifestEvaluator, Term}
import iceberglite.table.{CommitContext, Concern}
import iceberglite.tree.{FileSelector, MetadataTree, PartitionSources, WrittenTree}

/**
 * Takes files out of a snapshot, and the deletes that then speak of nothing (adopted version 3: when a data file goes,
 * its deletion vector goes with it).
 *
 * @param concern finds the manifests that may list such files
 * @param removesData whether a data file goes
 * @param removesDeletes whether a delete file goes, whatever data files do
 */
final private[action] class Removal(
    concern: Concern,
    removesData: ManifestEntry => Boolean,
    removesDeletes: ManifestEntry => Boolean,
    tree: MetadataTree,
    parent: Option[Snapshot]
) extends FileSelector {

  /** Only asked for where there are delete files. */
  private lazy val removedData: Set[String] = parent.toVector.flatMap(tree.manifests)
    .filter(m => m.content == ManifestContent.Data && concern.mightMatch(m))
    .flatMap(m => tree.entries(m).filter(e => e.isLive && removesData(e)).map(_.file.path)).toSet

  override def mightMatch(manifest: ManifestFile): Boolean = manifest.hasLiveFiles &&
    (concern.mightMatch(manifest) || (manifest.content == ManifestContent.Deletes && removedData.nonEmpty))

  override def removes(entry: ManifestEntry): Boolean =
    if (entry.file.content == Content.Data) removesData(entry)
    else removesDeletes(entry) || entry.file.referencedDataFile.exists(removedData)
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
  def matching(
      rows: RowFilter,
      verb: String,
      base: TableMetadata,
      parent: Option[Snapshot],
      context: CommitContext
  ): FileSelector = {
    def removesData(entry: ManifestEntry): Boolean = rows.matches(entry) match {
      case Match.All => true
      case Match.None => false
      case Match.Some => throw ValidationFailed(
          s"Cannot $verb rows of ${context.table} ${rows.description}: file ${entry.file.path} may also have rows " +
            "that do not match. Row-level deletes are not supported yet; use a condition that whole files satisfy, " +
            "such as one on the columns that the table is partitioned by"
        )
    }
    new Removal(rows, removesData, rows.matches(_) == Match.All, MetadataTree.of(context.io, base), parent)
  }

  /** The files of certain partitions. */
  def of(partitions: Partitions, base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileSelector =
    new Removal(partitions, partitions.mightMatch, partitions.mightMatch, MetadataTree.of(context.io, base), parent)
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
