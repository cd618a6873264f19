package iceberglite.storage

import java.net.URI

import scala.collection.JavaConverters._

import com.amazonaws.AmazonWebServiceRequest
import com.amazonaws.handlers.RequestHandler2
import com.amazonaws.services.s3.AmazonS3
import com.amazonaws.services.s3.model.{
  CopyObjectRequest,
  InitiateMultipartUploadRequest,
  ObjectTagging,
  PutObjectRequest,
  StorageClass,
  Tag
}
import org.apache.hadoop.fs.s3a.DefaultS3ClientFactory
import org.apache.hadoop.fs.s3a.S3ClientFactory.S3ClientCreationParameters

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Creates the clients of S3A for catalogs with `s3.write.storage-class` or `s3.write.tags.*`. This class is needed,
 * because S3A in this Hadoop release has no settings for storage classes and tags. S3A instantiates the class by name.
 */
final class S3ClientFactory extends DefaultS3ClientFactory {
  override def createS3Client(uri: URI, parameters: S3ClientCreationParameters): AmazonS3 = {
    val existing = Option(parameters.getRequestHandlers).fold(Vector.empty[RequestHandler2])(_.asScala.toVector)
    val handlers = existing :+ new S3WriteHandler(storageClass, S3Settings.tags(getConf))
    super.createS3Client(uri, parameters.withRequestHandlers(handlers.asJava))
  }

  private def storageClass: Option[StorageClass] = Option(getConf.get(S3Settings.HadoopStorageClass)).map { name =>
    StorageClass.values.find(_.toString == name).getOrElse(
      throw InvalidArgument(
        "s3.write.storage-class",
        name,
        s"It must be one of ${StorageClass.values.mkString(", ")}"
      )
    )
  }
}

/** Sets the storage class and tags of each object that is written. */
final private class S3WriteHandler(storageClass: Option[StorageClass], tags: Map[String, String])
    extends RequestHandler2 {
  private def tagging: ObjectTagging =
    new ObjectTagging(tags.toVector.sorted.map { case (key, value) => new Tag(key, value) }.asJava)

  override def beforeExecution(request: AmazonWebServiceRequest): AmazonWebServiceRequest = {
    request match {
      case put: PutObjectRequest =>
        storageClass.foreach(put.setStorageClass)
        if (tags.nonEmpty) put.setTagging(tagging)
      case upload: InitiateMultipartUploadRequest =>
        storageClass.foreach(upload.setStorageClass)
        if (tags.nonEmpty) upload.setTagging(tagging)
      case copy: CopyObjectRequest =>
        storageClass.foreach(copy.setStorageClass)
        if (tags.nonEmpty) copy.setNewObjectTagging(tagging)
      case _ =>
    }
    request
  }
}
