CREATE TABLE "collection_items" (
	"collection" text NOT NULL,
	"item" text NOT NULL,
	"added" bigint NOT NULL,
	CONSTRAINT "collection_items_collection_item_pk" PRIMARY KEY("collection","item")
);
--> statement-breakpoint
CREATE TABLE "collections" (
	"id" text PRIMARY KEY NOT NULL,
	"maker" text NOT NULL,
	"title" text NOT NULL,
	"description" text NOT NULL,
	"created" bigint NOT NULL,
	"updated" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "collection_items_added" ON "collection_items" USING btree ("collection","added","item");--> statement-breakpoint
CREATE INDEX "collections_maker" ON "collections" USING btree ("maker","created","id");