package iceberglite.table

import iceberglite.spec.json.NameMappingJson
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.partition.{PartitionSpec, SortOrder}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.{NameMapping, Schema}
import iceberglite.spec.update.Requirement
import iceberglite.storage.{EncryptedTableIO, FileIO}
import iceberglite.tree.TreeTable

/**
 * A table at one version. This object is immutable; [[refresh]] returns the newest version.
 *
 * @param name the full name including the catalog, for messages
 * @param committer commits changes. This is the catalog or, for a table that is being created or replaced, a
 *   [[StagedCommitter]]
 */
final class Table(
    val id: TableIdentifier,
    val name: String,
    val version: TableVersion,
    storage: FileIO,
    val committer: Committer
) {
  def metadata: TableMetadata = version.metadata

  /** The access to the files of the table. That of an encrypted table rejects files that are not encrypted. */
  lazy val io: FileIO = EncryptedTableIO.of(storage, metadata)

  def metadataLocation: String = version.metadataLocation
  def location: String = metadata.location

  /**
   * Returns the table in the form that reading and writing metadata trees requires.
   *
   * @param schema the current schema, or the schema of an old snapshot
   */
  def tree(schema: Schema = metadata.schema): TreeTable = TreeTable(name, io, metadata, schema)
  def schema: Schema = metadata.schema
  def spec: PartitionSpec = metadata.spec
  def sortOrder: SortOrder = metadata.sortOrder
  def properties: Map[String, String] = metadata.properties
  def currentSnapshot: Option[Snapshot] = metadata.currentSnapshot

  /** The name mapping for files without field ids (spec: "Name Mapping Serialization"). */
  def nameMapping: Option[NameMapping] = TableProperty.of(TableProperty.NameMappingDefault, properties)
    .map(NameMappingJson.parse(s"table property ${TableProperty.NameMappingDefault.key} of $name", _))

  /**
   * Returns the table at its newest version.
   *
   * @throws iceberglite.spec.IcebergError.NotFound if the table was dropped
   * @throws iceberglite.spec.IcebergError.ValidationFailed if the name now belongs to another table (spec:
   *   `table-uuid`)
   */
  def refresh(): Table = {
    val newest = committer.load(id)
    metadata.uuid.foreach(Requirement.AssertTableUuid(_).check(Some(newest.metadata), name))
    at(newest)
  }

  /** Returns the newest version of the table that has this name now, which may be another table with another UUID. */
  private[iceberglite] def loadByName(): Table = at(committer.loadByName(id))

  /** Returns this table at another version. */
  def at(version: TableVersion): Table = new Table(id, name, version, version.io.getOrElse(storage), committer)

  /** Returns whether the table is being created or replaced and is not visible yet. */
  def isStaged: Boolean = committer.isInstanceOf[StagedCommitter]

  /** Returns whether the table is staged to replace an existing table. */
  def isReplacement: Boolean = committer match {
    case staged: StagedCommitter => staged.replaces
    case _ => false
  }

  /**
   * Returns the change of an action to this version, for a commit to several tables.
   *
   * @throws iceberglite.spec.IcebergError if the action is not possible
   */
  def changeBy(action: MetadataAction, environment: Environment = Environment.system): TableChange = {
    val context = CommitContext(io, name, environment.uuid().toString, Map.empty, environment)
    val sameTable = Change(Vector.empty, metadata.uuid.map(Requirement.AssertTableUuid).toVector)
    TableChange(id, version, sameTable ++ action.changeFor(metadata, context))
  }

  /**
   * Begins a transaction on this version of the table.
   *
   * @param summary entries that are added to the summary of every snapshot
   */
  def transaction(
      summary: Map[String, String] = Map.empty,
      environment: Environment = Environment.system
  ): Transaction = Transaction.on(this, summary, environment)

  override def toString: String = name
}
