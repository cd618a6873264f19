package iceberglite.tree.root

import java.util.Locale

import scala.collection.mutable

import iceberglite.spec.file.Metrics
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, TableExpression, UnknownTransform, Void}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{PrimitiveType, Type}
import iceberglite.spec.types.Type._
import iceberglite.tree.PartitionSpecs

/**
 * A column, or a table expression (version 4: `expressions`, such as `bucket[16](id)`), that can have statistics.
 *
 * @param id the id of the column or expression
 * @param name the name of the statistics struct in the file; readers use only the field ids
 * @param isColumn whether it is a column of a schema, and not an expression
 * @param valueType the type of the bounds. If `isOpaque` is set, it is `unknown`, except in the columns of a file; see
 *   [[StatsColumns.in]]
 * @param keyOnly whether only those statistics are read that determine a partition value: the lower bound and the
 *   number of NaNs
 * @param isOpaque whether it is an expression with an unknown transform. Only the files with its statistics determine
 *   the type of its bounds, which may differ between files
 */
final private[root] case class StatsColumn(
    id: Int,
    name: String,
    valueType: PrimitiveType,
    isColumn: Boolean,
    keyOnly: Boolean = false,
    isOpaque: Boolean = false
) {

  /** The field id of the statistics struct. */
  def structId: Int = StatsColumn.FirstId + StatsColumn.IdsPerColumn * id

  /** The field id of the lower bound. */
  def lowerId: Int = structId + 1

  /** The field id of the upper bound. */
  def upperId: Int = structId + 2

  /** The type of the bounds; absent if values of the column's type are not ordered. */
  def boundType: Option[PrimitiveType] = valueType match {
    case VariantType | UnknownType | _: GeometryType | _: GeographyType => None
    case other => Some(other)
  }

  def isFloating: Boolean = valueType == FloatType || valueType == DoubleType

  def hasSizes: Boolean = valueType == StringType || valueType == BinaryType
}

private[root] object StatsColumn {
  val FirstId = 10000
  val IdsPerColumn = 200
}

/**
 * The columns and expressions of a table that can have statistics. Columns in lists and maps have no statistics.
 *
 * @param all the columns and expressions, in ascending order of their ids
 * @param keys for each partition spec id, the key of each partition field; absent for a void field
 */
final private[root] class StatsColumns(val all: Vector[StatsColumn], keys: Map[Int, Vector[Option[PartitionFieldKey]]])
    extends Serializable {
  val byId: Map[Int, StatsColumn] = all.map(c => c.id -> c).toMap

  /** The struct of entries whose statistics are those of these columns and expressions. */
  @transient lazy val entryStruct: EntryStruct = new EntryStruct(this)

  /**
   * Returns the columns for reading a file.
   *
   * @param types the types of the primitive fields of the file, by field id. They are needed only if there are
   *   expressions with unknown transforms
   */
  def in(types: => Map[Int, PrimitiveType]): StatsColumns =
    if (!all.exists(_.isOpaque)) this
    else {
      val found = types
      typed(c => found.get(c.lowerId).orElse(found.get(c.upperId)))
    }

  /**
   * Returns these columns and expressions, with the given types of the expressions with unknown transforms.
   *
   * @param typeOf returns the type of the bounds of such an expression; `None` if it has no bounds
   */
  def typed(typeOf: StatsColumn => Option[PrimitiveType]): StatsColumns = {
    def withType(c: StatsColumn) = if (c.isOpaque) c.copy(valueType = typeOf(c).getOrElse(UnknownType)) else c
    new StatsColumns(all.map(withType), keys)
  }

  /** Returns whether the id is that of an expression with an unknown transform. */
  def isOpaque(id: Int): Boolean = byId.get(id).exists(_.isOpaque)

  /** Returns only the columns and expressions with the given ids. */
  def only(ids: Set[Int]): StatsColumns = new StatsColumns(all.filter(c => ids(c.id)), keys)

  /** Returns only the columns and expressions whose statistics contain partition values, to read these values. */
  @transient lazy val ofPartitions: StatsColumns = {
    val ids = keys.valuesIterator.flatMap(_.flatten).map(_.id).toSet
    new StatsColumns(all.filter(c => ids(c.id)).map(_.copy(keyOnly = true)), keys)
  }

  private val identityIds: Map[Int, Set[Int]] =
    keys.map { case (specId, fields) => specId -> fields.flatten.filter(_.isIdentity).map(_.id).toSet }

  /** Returns the ids of the source columns of the identity partition fields of a partition spec. */
  def identities(specId: Int): Set[Int] = identityIds.getOrElse(specId, Set.empty)

  /** Returns the ids of the columns and expressions whose statistics contain the values of the given partition spec. */
  def keyIds(specId: Int): Set[Int] = keys.getOrElse(specId, Vector.empty).flatten.map(_.id).toSet

  def isColumn(id: Int): Boolean = byId.get(id).exists(_.isColumn)

  /** Returns statistics as metrics, without the statistics of expressions. */
  def metrics(stats: ContentStats): Metrics = withExpressions(stats, _ => false)

  /**
   * Returns the statistics of a file as metrics. These contain the statistics of expressions, so that these are not
   * lost when the entry is written to another manifest, except statistics that are restored from the partition values.
   */
  def metrics(stats: ContentStats, specId: Int): Metrics = {
    val restored = restoredIds.getOrElse(specId, Set.empty[Int])
    withExpressions(stats, id => !restored(id))
  }

  private def withExpressions(stats: ContentStats, keepsExpression: Int => Boolean): Metrics =
    if (stats.byId.keysIterator.forall(isColumn)) EntryMetrics.of(stats.byId)
    else {
      val (columns, expressions) = stats.byId.partition(s => isColumn(s._1))
      val kept = expressions.filter(s => keepsExpression(s._1))
      EntryMetrics.of(columns ++ kept, kept.keySet)
    }

  /** For each partition spec id, the expressions whose statistics are computed from the partition values of a file. */
  private val restoredIds: Map[Int, Set[Int]] =
    keys.map { case (specId, fields) =>
      specId -> fields.flatten.filterNot(_.isIdentity).map(_.id).filterNot(isOpaque).toSet
    }

  /** Returns the keys of the fields of a partition spec. @throws EntryFault if the table does not have the spec */
  def keysOf(specId: Int): Vector[Option[PartitionFieldKey]] = keys.getOrElse(
    specId,
    throw EntryFault(
      s"An entry has the partition spec $specId, but the specs of the table are " +
        keys.keys.toVector.sorted.mkString(", ")
    )
  )
}

/**
 * Identifies the statistics that contain the values of a partition field.
 *
 * @param id the id of the source column (transform identity) or of the expression
 * @param partitionType the type of the partition values
 */
final private[root] case class PartitionFieldKey(id: Int, isIdentity: Boolean, partitionType: PrimitiveType)

private[root] object StatsColumns {

  /**
   * Returns the columns and expressions of a table. A column has its type in the current schema or, if it was
   * dropped, in the schema with the highest id that contains it. Files contain values of this type or of a type that
   * was promoted to it.
   *
   * @param sources the partition specs with their source columns
   * @param expressions the table's expressions. Each partition field whose transform is neither identity nor void must
   *   have one
   */
  def of(
      metadata: TableMetadata,
      sources: PartitionSpecs,
      expressions: Vector[TableExpression]
  ): StatsColumns = {
    val schemas = (metadata.schema +: metadata.schemas.sortBy(-_.schemaId)) :+ sources.sources
    val columns = schemas.flatMap(scalars).filter(_.id <= TableExpression.MaxId)
    val newest = columns.groupBy(_.id).map(_._2.head).toVector
    val typeOf = newest.map(c => c.id -> c.valueType).toMap
    val derived = expressions.filter(e => e.transform != Identity && e.id <= TableExpression.MaxId).map { e =>
      val source = e.sourceIds.headOption.flatMap(typeOf.get).getOrElse(UnknownType)
      e.transform match {
        case _: UnknownTransform => StatsColumn(e.id, e.name, UnknownType, isColumn = false, isOpaque = true)
        case known => StatsColumn(e.id, e.name, known.resultType(source), isColumn = false)
      }
    }
    new StatsColumns(
      distinctNames((newest ++ derived).filter(c => c.isOpaque || c.valueType != UnknownType).sortBy(_.id)),
      sources.byId.map { case (id, spec) => id -> keysOf(spec, sources, expressions) }
    )
  }

  /** Returns the columns of primitive types that are not in lists or maps. */
  private def scalars(schema: Schema): Vector[StatsColumn] = {
    def in(struct: StructType): Vector[StatsColumn] = struct.fields.flatMap { f =>
      (f.fieldType: Type) match {
        case t: PrimitiveType => Vector(StatsColumn(f.id, schema.names.getOrElse(f.id, f.name), t, isColumn = true))
        case nested: StructType => in(nested)
        case _: ListType | _: MapType => Vector.empty
      }
    }
    in(schema.asStruct)
  }

  private def keysOf(
      spec: PartitionSpec,
      sources: PartitionSpecs,
      expressions: Vector[TableExpression]
  ): Vector[Option[PartitionFieldKey]] = spec.fields.zip(spec.partitionType(sources.sources).fields).map {
    case (field, typed) => (field.transform, typed.fieldType) match {
        case (Void, _) => None
        case (Identity, t: PrimitiveType) => Some(PartitionFieldKey(field.sourceId, isIdentity = true, t))
        case (_, t: PrimitiveType) => Some(PartitionFieldKey(expressionOf(field, expressions), isIdentity = false, t))
        case (_, _) => None
      }
  }

  private def expressionOf(field: PartitionField, expressions: Vector[TableExpression]): Int =
    expressions.find(_.isOf(field)).map(_.id).getOrElse(throw EntryFault(
      s"The partition field ${field.name} (id ${field.fieldId}) has no expression in the table metadata. " +
        "Another writer, or the server of the catalog, has dropped it (see Limits in docs/v4.md)"
    ))

  /** Makes names distinct, regardless of case, because some engines compare the names of fields without case. */
  private def distinctNames(columns: Vector[StatsColumn]): Vector[StatsColumn] = {
    def key(name: String) = name.toLowerCase(Locale.ROOT)
    val counts = columns.groupBy(c => key(c.name)).map { case (name, same) => name -> same.size }
    val used = mutable.Set(counts.keys.toVector: _*)
    columns.map { c =>
      if (counts(key(c.name)) == 1) c
      else c.copy(name = Iterator.iterate(s"${c.name}_${c.id}")(_ + "_").find(name => used.add(key(name))).get)
    }
  }
}
