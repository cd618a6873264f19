package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression, Literal, MetadataAttribute}
import org.apache.spark.sql.catalyst.plans.logical.{Assignment, DeleteAction, InsertAction, MergeAction, UpdateAction}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.{LongType, Metadata}

import iceberglite.spark.rowlevel.CarryOverColumns
import iceberglite.spark.write.RowChangeCode
import iceberglite.spec.schema.MetadataColumns.{LastUpdatedSequenceNumber, RowId}

/**
 * The metadata columns that copy-on-write copies ("carries") from the rows that it reads to the rows that it writes:
 * the columns of row lineage, and a column with a code for the change of a row ([[RowChangeCode]]).
 *
 * @param requestedNames the names of the metadata columns to carry; a name is omitted if a column of the table hides it
 */
final private[rules] class CarriedColumns(requestedNames: Seq[String], relation: DataSourceV2Relation) {

  /** The carried columns as ordinary columns, without the marker of metadata columns. */
  val columns: Seq[AttributeReference] = {
    val metadata = relation.output.filter(a => MetadataAttribute.isValid(a.metadata)) ++ relation.metadataOutput
    requestedNames.filterNot(isAlreadyCarried).flatMap(name => metadata.find(_.name == name))
      .map(a => a.copy(metadata = Metadata.empty)(a.exprId, a.qualifier))
  }

  /** Whether the plan already carries the metadata column with the given name. */
  private def isAlreadyCarried(name: String): Boolean =
    relation.output.exists(a => a.name == name && !MetadataAttribute.isValid(a.metadata))

  def isEmpty: Boolean = columns.isEmpty

  val names: Set[String] = columns.map(_.name).toSet

  /** Whether the write receives a column with the change of each row. */
  def hasChangeColumn: Boolean = names(CarryOverColumns.Change.name)

  /**
   * The assignments to the carried columns for an updated row. The row keeps its row id, and the commit sets its
   * sequence number.
   */
  def updateAssignments: Seq[Assignment] = assignmentsOf {
    case a if a.name == RowId.name => a
    case a if a.name == LastUpdatedSequenceNumber.name => nullLong
    case _ => changeCode(RowChangeCode.Updated)
  }

  private def insertAssignments: Seq[Assignment] = assignmentsOf {
    case a if a.name == CarryOverColumns.Change.name => changeCode(RowChangeCode.Inserted)
    case _ => nullLong
  }

  private val nullLong = Literal(null, LongType)

  private def changeCode(code: Int): Literal = Literal(code)

  private def assignmentsOf(valueOf: AttributeReference => Expression): Seq[Assignment] =
    columns.map(a => Assignment(a, valueOf(a)))

  /** The MERGE action that copies an unchanged row. */
  def copyAction: MergeAction = {
    val otherColumns = relation.output.filterNot(a => names(a.name))
    UpdateAction(None, (otherColumns ++ columns).map(a => Assignment(a, a)))
  }

  /**
   * Returns a MERGE action that also assigns the carried columns.
   *
   * @param marksDeletes whether deleted rows are passed to the write, so that the write can count them
   */
  def withCarryOver(action: MergeAction, marksDeletes: Boolean): MergeAction = action match {
    case u: UpdateAction => u.copy(assignments = u.assignments ++ updateAssignments)
    case i: InsertAction => i.copy(assignments = i.assignments ++ insertAssignments)
    case DeleteAction(condition) if marksDeletes =>
      val keptAssignments = relation.output.filterNot(a => names(a.name)).map(a => Assignment(a, a))
      UpdateAction(
        condition,
        keptAssignments ++ assignmentsOf {
          case a if a.name == CarryOverColumns.Change.name => changeCode(RowChangeCode.Deleted)
          case a => a
        }
      )
    case other => other
  }
}

private[rules] object CarriedColumns {
  def isCarried(attribute: Attribute): Boolean =
    CarryOverColumns.contains(attribute.name) && attribute.metadata == Metadata.empty
}
