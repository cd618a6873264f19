package iceberglite.tree

import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue, In, IsNan, IsNull}
import iceberglite.spec.file.{ContentFile, ManifestEvaluator, PartSummary}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.{Literal, NestedField}

/**
 * The partitions of given files. As a filter, it accepts the parts of a metadata tree (manifests in format versions 1
 * to 3) that may list files of these partitions.
 */
final private[iceberglite] class FilePartitions(files: Vector[ContentFile], base: TableMetadata) extends PartFilter {
  private val sources = PartitionSpecs.sources(base, base.schema)
  private val tuples: Map[Int, Set[PartitionTuple]] = files.groupBy(_.specId).map { case (id, fs) =>
    id -> fs.map(_.partition).toSet
  }
  private val evaluators: Map[Int, ManifestEvaluator] = tuples.map { case (id, values) =>
    val spec = base.specsById(id)
    val fields = spec.partitionType(sources).fields
    val condition = fields.indices.map(i => valueFilter(fields(i), values.map(_.values(i))))
    val all = condition.foldLeft[Expression](AlwaysTrue)(Expression.and)
    id -> new ManifestEvaluator(all, spec, spec.partitionType(sources))
  }

  /**
   * Returns a filter that accepts the given values of one partition field. Each field is filtered separately. Together,
   * these filters may accept more partitions than the given ones, but they are fast for thousands of partitions.
   */
  private def valueFilter(field: NestedField, values: Set[Option[Literal]]): Expression = {
    val term = Term.Bound(field, field.name)
    val (nan, ordinary) = values.flatten.partition(isNan)
    val alternatives = Vector(
      if (ordinary.nonEmpty) In(term, ordinary) else AlwaysFalse,
      if (nan.nonEmpty) IsNan(term) else AlwaysFalse,
      if (values.contains(None)) IsNull(term) else AlwaysFalse
    )
    alternatives.foldLeft[Expression](AlwaysFalse)(Expression.or)
  }

  private def isNan(value: Literal): Boolean = value match {
    case Literal.FloatLiteral(v) => v.isNaN
    case Literal.DoubleLiteral(v) => v.isNaN
    case _ => false
  }

  override def mightMatch(part: PartSummary): Boolean = evaluators.get(part.specId).exists(_.mightMatch(part))

  def contains(file: ContentFile): Boolean = tuples.get(file.specId).exists(_.contains(file.partition))
}
