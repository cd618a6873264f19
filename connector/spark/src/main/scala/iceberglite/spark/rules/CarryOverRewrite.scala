package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression, Literal, MetadataAttribute}
import org.apache.spark.sql.catalyst.plans.logical.{Assignment, DeleteAction, InsertAction, MergeAction, UpdateAction}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.{LongType, Metadata}

import iceberglite.spark.rowlevel.CarryOverColumns
import iceberglite.spark.write.RowChangeCode
import iceberglite.spec.schema.MetadataColumns.{LastUpdatedSequenceNumber, RowId}

/**
 * The metadata columns that copy-on-write carries from the rows that it reads to the rows that it writes: row lineage,
 * and a column with the change of a row ([[RowChangeCode]]).
 *
 * @param requestedNames the names of the columns; names that columns of the table hide are omitted
 */
final private[rules] class CarryOverRewrite(requestedNames: Seq[String], relation: DataSourceV2Relation) {

  /** The columns as ordinary columns, without the marker of metadata columns. */
  val columns: Seq[AttributeReference] = {
    val metadata = relation.output.filter(a => MetadataAttribute.isValid(a.metadata)) ++ relation.metadataOutput
    requestedNames.filterNot(isWritten).flatMap(name => metadata.find(_.name == name))
      .map(_.withMetadata(Metadata.empty).asInstanceOf[AttributeReference])
  }

  /** Whether the rule has already added the columns to a plan. */
  private def isWritten(name: String): Boolean =
    relation.output.exists(a => a.name == name && !MetadataAttribute.isValid(a.metadata))

  def isEmpty: Boolean = columns.isEmpty

  val names: Set[String] = columns.map(_.name).toSet

  /** Whether the write receives a column with the change of each row. */
  def hasChangeColumn: Boolean = names(CarryOverColumns.Change.name)

  /** The values for an updated row. It keeps its id; its sequence number is set by the commit. */
  def updated: Seq[Assignment] = values {
    case a if a.name == RowId.name => a
    case a if a.name == LastUpdatedSequenceNumber.name => unknown
    case _ => change(RowChangeCode.Updated)
  }

  private def inserted: Seq[Assignment] = values {
    case a if a.name == CarryOverColumns.Change.name => change(RowChangeCode.Inserted)
    case _ => unknown
  }

  private val unknown = Literal(null, LongType)

  private def change(code: Int): Literal = Literal(code)

  private def values(valueOf: AttributeReference => Expression): Seq[Assignment] =
    columns.map(a => Assignment(a, valueOf(a)))

  /** The action for a row that does not change. */
  def unchanged: MergeAction = {
    val others = relation.output.filterNot(a => names(a.name))
    UpdateAction(None, (others ++ columns).map(a => Assignment(a, a)))
  }

  /**
   * Returns an action with the carried columns. @param marksDeletes whether deleted rows are passed to the write, to be
   * counted
   */
  def withCarryOver(action: MergeAction, marksDeletes: Boolean): MergeAction = action match {
    case u: UpdateAction => u.copy(assignments = u.assignments ++ updated)
    case i: InsertAction => i.copy(assignments = i.assignments ++ inserted)
    case DeleteAction(condition) if marksDeletes =>
      val kept = relation.output.filterNot(a => names(a.name)).map(a => Assignment(a, a))
      UpdateAction(
        condition,
        kept ++ values {
          case a if a.name == CarryOverColumns.Change.name => change(RowChangeCode.Deleted)
          case a => a
        }
      )
    case other => other
  }
}

private[rules] object CarryOverRewrite {
  def isCarried(attribute: Attribute): Boolean =
    CarryOverColumns.contains(attribute.name) && attribute.metadata == Metadata.empty
}
